"""What wants a person's attention, over all their conversations and every depth."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db.models import F, Q, QuerySet

from assistants.access import Actor, Visitor, threads_for
from assistants.models import Thread, ToolCall, Turn

from .overview import facts_of, has_news, waiting_calls

MAX_ENTRIES = 50


@dataclass(frozen=True)
class Waiting:
    """A question, a call to be approved, or one whose outcome only a person can find out. `text` is what is asked, or the
    name of the tool."""

    thread: Thread
    call: ToolCall
    text: str
    since: datetime | None


@dataclass(frozen=True)
class Running:
    """A turn that goes on by itself; `state` is thinking, acting, waiting (for its sub-chats, none of which waits for a
    person) or paused."""

    thread: Thread
    state: str
    since: datetime


@dataclass(frozen=True)
class Finished:
    """A conversation with news that its owner has not seen. `outcome` is done, failed, stopped or handed_back."""

    thread: Thread
    outcome: str
    since: datetime


@dataclass(frozen=True)
class Inbox:
    """Newest first. `thread.root` is the conversation that a sub-chat belongs to, None for one of one's own."""

    waiting: tuple[Waiting, ...]
    running: tuple[Running, ...]
    finished: tuple[Finished, ...]
    archived: tuple[Thread, ...]


def inbox_of(actor: Actor) -> Inbox:
    """Reads the inbox: what is the actor's own, not what is shared with them; eight queries."""
    own = _own(actor)
    ids = own.values("pk")
    calls = waiting_calls().filter(turn__thread__in=ids).select_related("turn__thread__root", "turn__thread__assistant")
    waiting = tuple(_waiting(call) for call in calls.order_by("-turn_id")[:MAX_ENTRIES])
    asking = {each.thread.pk for each in waiting}
    turns = Turn.objects.active().filter(thread__in=ids).exclude(thread__in=asking)
    going = turns.select_related("thread__root", "thread__assistant").order_by("-pk")
    alone = (turn for turn in going if not _waits_for(turn, waiting))
    running = (Running(turn.thread, turn.state, turn.started or turn.created) for turn in islice(alone, MAX_ENTRIES))
    archived = own.filter(parent=None, archived=True).order_by("-updated")[:MAX_ENTRIES]
    return Inbox(waiting, tuple(running), _finished(own, asking), tuple(archived))


def _own(actor: Actor) -> QuerySet[Thread]:
    readable = threads_for(actor).select_related("root", "assistant")
    if isinstance(actor, Visitor):
        return readable
    return readable.filter(Q(root=None, owner_id=actor.pk) | Q(root__owner_id=actor.pk))


def _waiting(call: ToolCall) -> Waiting:
    text = "" if call.is_open else str(call.arguments.get("question", ""))
    asked = datetime.fromisoformat(call.approval["at"]) if call.is_asked and call.approval else None
    return Waiting(call.turn.thread, call, text or call.name, asked or call.settled or call.started)


def _waits_for(turn: Turn, waiting: Collection[Waiting]) -> bool:
    """Whether it goes on when a person has answered one of these below it: that is told of once, where it waits."""
    # A sub-chat's id holds the ids of all above it.
    return turn.state == Turn.State.WAITING and any(f"_{turn.thread.chat_id}_" in each.thread.chat_id for each in waiting)


def _finished(own: QuerySet[Thread], asking: set[int]) -> tuple[Finished, ...]:
    news = list(own.filter(last_news__gt=F("seen_event")).exclude(pk__in=asking).order_by("-updated")[:MAX_ENTRIES])
    facts = facts_of(news, own={each.root_id_or_own for each in news})
    return tuple(
        Finished(thread, facts.outcomes[thread.pk], thread.updated)
        for thread in news
        if has_news(thread) and thread.pk in facts.outcomes and thread.pk not in facts.active
    )
