"""Finds conversations by their titles and by what was said in them, among those that a person may read."""

import re
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from assistants.models import Message, Thread

from .bare import bare_line
from .search_hits import CLOSES, MAX_PASSAGES, MAX_THREADS, OPENS, Hit, words_of
from .search_index import index_of


@dataclass(frozen=True)
class Piece:
    """A stretch of text; `hit` when it is what was looked for."""

    text: str
    hit: bool


@dataclass(frozen=True)
class Passage:
    """A message that holds all the words. The page of its thread shows it at `?at=<sequence>#m<sequence>`."""

    sequence: int
    role: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Found:
    """A conversation with hits; `title` is its title, cut where the words stand if they stand there."""

    thread: Thread
    title: tuple[Piece, ...]
    passages: tuple[Passage, ...]


def search(query: str, threads: QuerySet[Thread]) -> list[Found]:
    """What is found in these threads, titles first, then the newest; empty for a query without words (S10, S39a).

    All words must be there, in one title or one message; the last may be the beginning of one, as it is being typed.
    """
    words = words_of(query)
    if not words or threads.query.is_empty():
        return []
    hits = index_of().find(words, threads)
    order = list(dict.fromkeys(hit.thread_id for hit in hits))[:MAX_THREADS]
    rows = Thread.objects.in_bulk(order)
    sequences = _sequences([hit.message_id for hit in hits if hit.message_id])
    of_thread = {number: [hit for hit in hits if hit.thread_id == number] for number in order}
    return [_found(rows[number], of_thread[number], sequences) for number in order if number in rows]


def _found(thread: Thread, hits: list[Hit], messages: dict[UUID, tuple[int, str]]) -> Found:
    titles = [hit for hit in hits if hit.message_id is None]
    bodies = [(messages[hit.message_id], hit) for hit in hits if hit.message_id in messages]
    passages = [Passage(sequence, role, pieces(_bare(hit.excerpt))) for (sequence, role), hit in bodies[:MAX_PASSAGES]]
    title = pieces(titles[0].excerpt) if titles else (Piece(thread.title, False),)
    return Found(thread, title, tuple(passages))


def _bare(excerpt: str) -> str:
    return "\n".join(filter(None, map(bare_line, excerpt.split("\n"))))


def _sequences(ids: list[UUID]) -> dict[UUID, tuple[int, str]]:
    rows = Message.objects.filter(pk__in=ids).values_list("pk", "sequence", "role")
    return {pk: (sequence, role) for pk, sequence, role in rows}


def pieces(excerpt: str) -> tuple[Piece, ...]:
    """Cuts an excerpt at its marks: what stands between two of them was looked for."""
    stretches = re.split(f"[{OPENS}{CLOSES}]", excerpt)
    return tuple(Piece(text, number % 2 == 1) for number, text in enumerate(stretches) if text)
