"""Stores what was read from a root's files: documents, passages, index and mirror, many files in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from assistants.models import Document, DocumentRoot, Passage

from .mirror import Mirror
from .prepare import Ready
from .search_index import index_of

FIELDS = ("title", "digest", "text", "modified", "size")
DROPPED_AT_ONCE = 200
ADD = """INSERT INTO assistants_passage (document_id, first_line, last_line, heading, anchor, text)
    VALUES (%s, %s, %s, %s, %s, %s)"""


@dataclass(frozen=True)
class Prepared:
    """A file that was read and cut. `modified` is its time, `size` its bytes, `digest` that of its bytes."""

    path: str
    digest: str
    modified: datetime | None
    size: int
    ready: Ready


def store(root: DocumentRoot, mirror: Mirror, prepared: Sequence[Prepared], failed: Callable[[str], None]) -> None:
    """Stores files that are new or changed in one transaction, then their mirror. A document keeps its id when it changes.

    `failed` hears of paths that the mirror could not take.
    """
    if not prepared:
        return
    documents = [_document(root, each) for each in prepared]
    with transaction.atomic():
        # Another process may read the same folder: the second finds what the first has stored, and puts its own there.
        DocumentRoot.objects.select_for_update(no_key=True).only("pk").filter(pk=root.pk).first()
        paths = [each.path for each in prepared]
        Passage.objects.filter(document__in=Document.objects.filter(root=root, path__in=paths).values("pk")).delete()
        Document.objects.bulk_create(
            documents, update_conflicts=True, unique_fields=["root", "path"], update_fields=FIELDS, batch_size=100
        )
        columns = (columns for each in prepared for columns in each.ready.columns)
        index_of().add(root.pk, zip(_add_passages(documents, prepared), columns, strict=True))
    for each in prepared:
        try:
            mirror.write(each.path, each.ready.text)
        except OSError:
            failed(each.path)


def drop(root: DocumentRoot, mirror: Mirror, paths: Sequence[str]) -> None:
    """Takes documents away whose files are gone."""
    for start in range(0, len(paths), DROPPED_AT_ONCE):
        Document.objects.filter(root=root, path__in=paths[start : start + DROPPED_AT_ONCE]).delete()
    for path in paths:
        mirror.remove(path)


def _document(root: DocumentRoot, prepared: Prepared) -> Document:
    return Document(
        root=root,
        path=prepared.path,
        title=prepared.ready.title,
        digest=prepared.digest,
        text=prepared.ready.text,
        modified=prepared.modified,
        size=prepared.size,
    )


def _add_passages(documents: Sequence[Document], prepared: Sequence[Prepared]) -> list[int]:
    """The ids of the new passages, in order. Written by hand: a model's objects take most of the time of a pass."""
    rows = [
        (document.pk, cut.first, cut.last, cut.heading, cut.anchor, cut.text)
        for document, each in zip(documents, prepared, strict=True)
        for cut in each.ready.cuts
    ]
    with connection.cursor() as cursor:
        cursor.executemany(ADD, rows)
    return list(Passage.objects.filter(document__in=documents).order_by("pk").values_list("pk", flat=True))
