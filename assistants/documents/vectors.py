"""Finds passages by meaning, with vectors of a small model that a package ships; off unless that is installed."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from assistants import clock
from assistants.errors import CodedError
from assistants.models import DocumentRoot, Passage

from .indexing import refresh
from .searching import Hit, hits_of

DIMENSIONS = 256
AT_ONCE = 512
SECONDS = 20.0
# A vector is the mean of its words: that of a whole passage says little of any sentence in it. Each stands for so many
# words, and the next one begins in the middle of it.
WINDOW, STEP = 60, 30
# Vectors of length 1 are kept as whole numbers up to this, which is exact enough and a quarter of the size.
SCALE = 127
# Rows that are compared in one go: they are widened for it, and there may be a million.
STRIDE = 50_000
Embed = Callable[[list[str]], Any]

_lock = threading.Lock()
_held: dict[int, "Table"] = {}


@dataclass(frozen=True)
class Table:
    """The vectors of a root's passages: `ids` has the passage of each of the `rows`, and a long one has several (int8, times
    `SCALE`). `indexed` is the state of the root that they belong to, if they are all."""

    ids: Any
    rows: Any
    indexed: datetime | None


def find_by_meaning(roots: Sequence[DocumentRoot], query: str, limit: int) -> list[Hit]:
    """The passages nearest to the query, in these roots only. Raises `VECTORS_OFF`.

    New passages get their vectors first, for up to 20 s; the rest of them wait for the next time.
    """
    embed = _embedder()
    if embed is None:
        raise CodedError(
            code="VECTORS_OFF",
            message="Searching by meaning is off: its model is not installed.",
            fix="Install what requirements-vector.in names.",
            correctable=False,
        )
    refresh(roots)
    wanted = embed([query])[0]
    ends = clock.monotonic() + SECONDS
    scores: dict[int, float] = {}
    for root in roots:
        scores |= _nearest(_table_of(root, embed, ends), wanted, limit)
    best = dict(sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit])
    return hits_of(roots, best)


def _nearest(table: Table, wanted: Any, limit: int) -> dict[int, float]:
    """The passages with the nearest windows, each with its best one's nearness."""
    found: dict[int, float] = {}
    for start in range(0, len(table.ids), STRIDE):
        near = table.rows[start : start + STRIDE].astype("float32") @ wanted / SCALE
        here: dict[int, float] = {}
        for place in near.argsort()[::-1]:
            here.setdefault(int(table.ids[start + place]), float(near[place]))
            if len(here) == limit:
                break
        found |= {passage: max(score, found.get(passage, score)) for passage, score in here.items()}
    return found


def _table_of(root: DocumentRoot, embed: Embed, ends: float) -> Table:
    """The root's vectors, brought up to date. One thread of a process does that at a time."""
    with _lock:
        table = _held.get(root.pk) or _load(root.pk)
        if table.indexed is None or table.indexed != root.indexed:
            table = _updated(root, table, embed, ends)
            _save(root.pk, table)
        _held[root.pk] = table
        return table


def _updated(root: DocumentRoot, table: Table, embed: Embed, ends: float) -> Table:
    """Without the passages that are gone, and with those that are new: a passage that changes gets another id."""
    import numpy

    present = set(Passage.objects.filter(document__root=root).values_list("pk", flat=True))
    kept = numpy.array([int(each) in present for each in table.ids], dtype=bool)
    ids, rows = [table.ids[kept]], [table.rows[kept]]
    missing = sorted(present - {int(each) for each in table.ids})
    complete = True
    for start in range(0, len(missing), AT_ONCE):
        if clock.monotonic() > ends:
            complete = False
            break
        passages = Passage.objects.filter(pk__in=missing[start : start + AT_ONCE])
        windows = [
            (pk, f"{title}. {heading}. {window}")
            for pk, title, heading, text in passages.values_list(*_TEXT)
            for window in _windows(text)
        ]
        ids.append(numpy.array([pk for pk, _ in windows], dtype="int64"))
        rows.append((embed([text for _, text in windows]) * SCALE).round().astype("int8"))
    return Table(numpy.concatenate(ids), numpy.concatenate(rows), root.indexed if complete else None)


def _windows(text: str) -> Iterator[str]:
    """`WINDOW` words each, from every `STEP`th one on, until all have been in one."""
    words = text.split()
    for start in range(0, max(len(words) - STEP, 1), STEP):
        yield " ".join(words[start : start + WINDOW])


_TEXT = ("pk", "document__title", "heading", "text")


def _load(root_id: int) -> Table:
    """What was stored, whatever state it belongs to; nothing if that can't be read or is of an older form."""
    import numpy

    with contextlib.suppress(OSError, ValueError, KeyError), numpy.load(_file(root_id), allow_pickle=False) as stored:
        if stored["rows"].shape == (len(stored["ids"]), DIMENSIONS) and stored["rows"].dtype == numpy.int8:
            return Table(stored["ids"], stored["rows"], None)
    return Table(numpy.empty(0, dtype="int64"), numpy.empty((0, DIMENSIONS), dtype="int8"), None)


def _save(root_id: int, table: Table) -> None:
    import numpy

    target = _file(root_id)
    unfinished = target.with_suffix(f".{os.getpid()}.unfinished")
    # It can be made again from the passages at any time.
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with unfinished.open("wb") as file:
            numpy.savez(file, ids=table.ids, rows=table.rows)
        os.replace(unfinished, target)


def _file(root_id: int) -> Path:
    return Path(settings.HOME) / "vectors" / f"{root_id}.npz"


@cache
def _embedder() -> Embed | None:
    """The installed model, or None. It never downloads anything."""
    try:
        import wordllama

        # The package looks for its own files in a folder that it calls by another name.
        model = wordllama.WordLlama.load(dim=DIMENSIONS, disable_download=True, cache_dir=Path(wordllama.__file__).parent)
    except (ImportError, OSError, ValueError):
        return None
    return lambda texts: model.embed(texts, norm=True)
