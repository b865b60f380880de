"""The team's earlier conversations as a source, read with the rights of whoever asks (A-36, A1, S10)."""

import math
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse

from assistants import access
from assistants.conversations.search_index import index_of, words_of
from assistants.documents.words import Term, fold, plain_words, quality, terms_of
from assistants.models import Assistant, Message, Tenant, Thread

from .datasources import Reach, Record

OWN, SHARED = "own", "shared"
MOST_WORDS = 8
MOST_CHARS = 700
# A question says the words of a question best, but answers nothing.
ASKED = 0.6


class ChatHistory:
    """What was said to people and by them, in conversations that the asker may read; sub-chats are left out.

    A record is one message. Its tag says whether the conversation is the asker's own or shared with them, its scope which
    assistant it was held with.
    """

    name = "conversations"
    tags = {OWN: "the asker's own conversations", SHARED: "conversations that others share with the asker"}

    def scopes(self, tenant: Tenant) -> list[str]:
        """The assistants of the team by their short names."""
        return list(Assistant.objects.filter(tenant=tenant, internal=False).order_by("slug").values_list("slug", flat=True))

    def search(self, reach: Reach, query: str, limit: int) -> Sequence[Record]:
        """The messages that hold the most telling words of the query; the rare ones count more."""
        terms = [term for term in terms_of(query) if len(term.text) > 1][:MOST_WORDS]
        threads = _threads(reach)
        if not terms or threads.query.is_empty():
            return []
        scores = _scores(terms, threads)
        best = sorted(scores, key=lambda pk: (-scores[pk], str(pk)))[: 3 * limit]
        rows = _messages(reach).filter(pk__in=best)
        records = [_record(reach, row, _stretch(row.text, terms), _weighed(row, scores[row.pk])) for row in rows]
        return sorted(records, key=lambda each: (-each.score, each.key))[:limit]

    def text_of(self, reach: Reach, key: str) -> Record | None:
        """A whole message by its conversation's name and its number there."""
        chat_id, _, number = key.partition("@")
        if not number.isdecimal() or len(number) > 9:
            return None
        row = _messages(reach).filter(thread__chat_id=chat_id, sequence=int(number)).first()
        return _record(reach, row, row.text, 1.0) if row else None

    def address(self, key: str) -> str:
        """The conversation at the message."""
        chat_id, at, number = key.partition("@")
        return f"{reverse('thread', args=[chat_id])}?at={number}#m{number}" if at and number.isdecimal() else ""


def _threads(reach: Reach) -> QuerySet[Thread]:
    """What the asker may read at this moment and the grant covers; never the conversation in which it is asked."""
    readable = access.threads_for(reach.asker).filter(tenant=reach.thread.tenant_id, parent=None)
    found = readable.exclude(pk=reach.thread.root_id_or_own)
    if reach.scopes:
        found = found.filter(assistant__slug__in=reach.scopes)
    mine = Q(owner=reach.asker)
    return found.filter((mine if OWN in reach.tags else Q(pk=None)) | (~mine if SHARED in reach.tags else Q(pk=None)))


def _messages(reach: Reach) -> QuerySet[Message]:
    said = Message.objects.filter(role__in=(Message.Role.USER, Message.Role.ASSISTANT), thread__in=_threads(reach).values("pk"))
    finished = said.exclude(state__in=(Message.State.STREAMING, Message.State.QUEUED))
    return finished.select_related("thread__assistant")


def _scores(terms: Sequence[Term], threads: QuerySet[Thread]) -> dict[UUID, float]:
    """For each message the share of the words that it holds, 0 to 1."""
    found = [(_holding(term, threads)) for term in terms]
    weights = [1 / (1 + math.log(1 + len(each))) for each in found]
    scores: dict[UUID, float] = {}
    for each, weight in zip(found, weights, strict=True):
        for pk in each:
            scores[pk] = scores.get(pk, 0.0) + weight / sum(weights)
    return scores


def _holding(term: Term, threads: QuerySet[Thread]) -> set[UUID]:
    """The messages with the word, however it ends."""
    words = words_of(term.text if term.is_phrase else term.stem)
    return {hit.message_id for hit in index_of().find(words, threads) if hit.message_id} if words else set()


def _record(reach: Reach, row: Any, text: str, score: float) -> Record:
    thread = row.thread
    return Record(
        key=f"{thread.chat_id}@{row.sequence}",
        title=thread.title or str(thread.assistant or ""),
        place=f"message {row.sequence}, {row.created.date().isoformat()}",
        text=text,
        score=round(score, 4),
        tags=frozenset({OWN if thread.owner_id == reach.asker.pk else SHARED}),
        scopes=frozenset({thread.assistant.slug} if thread.assistant else ()),
    )


def _weighed(row: Message, score: float) -> float:
    return score * (ASKED if row.role == Message.Role.USER else 1.0)


def _stretch(text: str, terms: Iterable[Term]) -> str:
    """The paragraphs around the one that holds the most of the words, as many as have room."""
    paragraphs = [each.strip() for each in text.split("\n\n") if each.strip()]
    if not paragraphs:
        return ""
    wanted = list(terms)
    held = [sum(quality(term, plain_words(fold(each))) for term in wanted) for each in paragraphs]
    first = held.index(max(held))
    chosen = paragraphs[first][:MOST_CHARS]
    for following in paragraphs[first + 1 :]:
        if len(chosen) + len(following) + 2 > MOST_CHARS:
            break
        chosen = f"{chosen}\n\n{following}"
    return chosen
