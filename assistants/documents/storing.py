"""Stores what was read from a root's files: documents, passages, index and mirror, many files in one transaction."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from assistants.models import Document, DocumentRoot, Passage

from .mirror import Mirror
from .prepare import Ready
from .search_index import index_of

DROPPED_AT_ONCE = 200
PUT = """INSERT INTO assistants_document (root_id, path, title, digest, text, modified, size)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (root_id, path) DO UPDATE SET title = excluded.title,
    digest = excluded.digest, text = excluded.text, modified = excluded.modified, size = excluded.size"""
ADD = """INSERT INTO assistants_passage (document_id, first_line, last_line, heading, anchor, text)
    VALUES (%s, %s, %s, %s, %s, %s)"""
IDS = "SELECT path, id FROM assistants_document WHERE root_id = %s AND path IN"
ADDED = "SELECT id FROM assistants_passage WHERE document_id IN"


@dataclass(frozen=True)
class Prepared:
    """A file that was read and cut. `modified` is its time, `size` its bytes, `digest` that of its bytes."""

    path: str
    digest: str
    modified: datetime | None
    size: int
    ready: Ready


def store(root: DocumentRoot, mirror: Mirror, prepared: Sequence[Prepared], failed: Callable[[str], None]) -> None:
    """Stores the mirror of files that are new or changed, then the files in one transaction. A document keeps its id when it
    changes.

    In this order: if the process ends in between, the next pass takes the file for an altered one. `failed` hears of paths
    that the mirror could not take.
    """
    if not prepared:
        return
    for each in prepared:
        try:
            mirror.write(each.path, each.ready.text)
        except OSError:
            failed(each.path)
    with transaction.atomic():
        # Another process may read the same folder: the second finds what the first has stored, and puts its own there.
        DocumentRoot.objects.select_for_update(no_key=True).only("pk").filter(pk=root.pk).first()
        if stored := _ids_of(root, prepared):
            Passage.objects.filter(document__in=stored.values()).delete()
        _put_documents(root, prepared)
        ids = _ids_of(root, prepared)
        columns = (columns for each in prepared for columns in each.ready.columns)
        index_of().add(root.pk, zip(_add_passages(ids, prepared), columns, strict=True))


def drop(root: DocumentRoot, mirror: Mirror, paths: Sequence[str]) -> None:
    """Takes documents away whose files are gone, the mirror first: what has no document is not looked for again."""
    for path in paths:
        mirror.remove(path)
    for start in range(0, len(paths), DROPPED_AT_ONCE):
        Document.objects.filter(root=root, path__in=paths[start : start + DROPPED_AT_ONCE]).delete()


def _ids_of(root: DocumentRoot, prepared: Sequence[Prepared]) -> dict[str, int]:
    """The ids of those documents that are stored, by path."""
    paths = [each.path for each in prepared]
    with connection.cursor() as cursor:
        cursor.execute(f"{IDS} ({_places(paths)})", [root.pk, *paths])
        return dict(cursor.fetchall())


def _places(values: Collection[object]) -> str:
    return ", ".join(["%s"] * len(values))


def _put_documents(root: DocumentRoot, prepared: Sequence[Prepared]) -> None:
    """Written by hand, as passages and the questions for ids are: models take most of the time of a pass."""
    as_stored = connection.ops.adapt_datetimefield_value
    rows = [
        (root.pk, each.path, each.ready.title, each.digest, each.ready.text, as_stored(each.modified), each.size)
        for each in prepared
    ]
    with connection.cursor() as cursor:
        cursor.executemany(PUT, rows)


def _add_passages(ids: Mapping[str, int], prepared: Sequence[Prepared]) -> list[int]:
    """The ids of the new passages, in order; `ids` are those of the documents, by path."""
    rows = [
        (ids[each.path], cut.first, cut.last, cut.heading, cut.anchor, cut.text) for each in prepared for cut in each.ready.cuts
    ]
    with connection.cursor() as cursor:
        cursor.executemany(ADD, rows)
        # They were added in the order of `prepared`, and ids only grow.
        cursor.execute(f"{ADDED} ({_places(ids)}) ORDER BY id", list(ids.values()))
        return [passage for (passage,) in cursor.fetchall()]
