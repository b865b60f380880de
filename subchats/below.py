"""What goes on in sub-chats and below them, read for several at once: the number of queries does not grow with them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from assistants import clock
from assistants.conversations.overview import QUESTION
from assistants.models import Message, Thread, ToolCall, Turn
from assistants.models.prepared import Prepared
from assistants.turns import live
from assistants.turns.claims import is_silent
from subchats.delegation.deliver import CUT_OFF
from subchats.models import Delegation

_REPLIES = Message.objects.filter(role=Message.Role.ASSISTANT).order_by("-sequence")
_TREES = Prepared(
    lambda roots: Thread.objects.filter(Q(pk__in=roots) | Q(root__pk__in=roots)).order_by().values_list("pk", "chat_id")
)
_TURNS = Prepared(lambda threads: Turn.objects.filter(thread__pk__in=threads).order_by("pk"))
_WAITING = Prepared(
    lambda threads: (
        ToolCall.objects.filter(turn__thread__pk__in=threads)
        .filter(Q(state=ToolCall.State.OPEN) | QUESTION)
        .select_related("turn__thread__assistant")
    )
)
_STARTED = Prepared(
    lambda threads: (
        ToolCall.objects.filter(turn__thread__pk__in=threads)
        .exclude(started=None)
        .order_by()
        .values_list("turn__thread", flat=True)
    )
)
_NESTED = Prepared(
    lambda chats: Delegation.objects.filter(child__parent__chat_id__in=chats).select_related("child__assistant").order_by("pk")
)
_SAID = Prepared(
    lambda threads: (
        Thread.objects.filter(pk__in=threads)
        .annotate(said=Subquery(_REPLIES.filter(thread=OuterRef("pk")).exclude(parts=[]).values("parts")[:1]))
        .order_by()
        .values_list("pk", "said")
    )
)


@dataclass(frozen=True)
class Usage:
    """What a sub-chat and everything below it has used so far (D22: the tree's total is the sum of its nodes); `seconds` and
    `steps`, its model calls, are its own."""

    tokens: int
    cost: Decimal
    seconds: int
    steps: int


@dataclass(frozen=True)
class Below:
    """A sub-chat with everything below it.

    `turns` and `waiting` are of all of it: the calls that are open or wait for a person. `tools` is how many it has called
    itself, `text` what it has written last, `nested` the sub-chats directly below it.
    """

    child: Thread
    turns: tuple[Turn, ...]
    waiting: tuple[ToolCall, ...]
    tools: int
    text: str
    nested: tuple["Below", ...] = ()

    @property
    def turn(self) -> Turn | None:
        """Its own newest turn that was begun; one that waits behind that changes nothing yet."""
        own = [each for each in self.turns if each.thread_id == self.child.pk]
        return next((each for each in reversed(own) if each.state != Turn.State.QUEUED), own[-1] if own else None)

    @property
    def questions(self) -> list[ToolCall]:
        """What waits for the person's answer, here and below (decision 7)."""
        return [each for each in self.waiting if not each.is_open]

    @property
    def approvals(self) -> list[ToolCall]:
        """The calls that wait for a person's approval, here and below (D8)."""
        return [each for each in self.waiting if each.is_asked]

    @property
    def undecided(self) -> list[ToolCall]:
        """The calls of which only a person can say how they ended, here and below (F06)."""
        return [each for each in self.waiting if each.is_open and each.needs_decision]

    @property
    def state(self) -> str:
        """One of queued, running, waiting (for a person, also below), paused, reported, handed_back, cut_off, failed,
        stopped."""
        turn = self.turn
        if turn is None or turn.state == Turn.State.QUEUED:
            return "queued"
        if self.questions or self.approvals or self.undecided:
            return "waiting"
        if turn.state in (Turn.State.THINKING, Turn.State.ACTING, Turn.State.WAITING):
            return "running"
        if turn.state == Turn.State.DONE:
            return turn.ending if turn.ending in ("handed_back", "stopped") else "reported"
        return "cut_off" if turn.reason in CUT_OFF else str(turn.state)

    @property
    def silent(self) -> bool:
        """Whether nothing has been heard for some seconds of whoever works in it or below it."""
        return any(map(is_silent, self.turns))

    @property
    def tool(self) -> str:
        """The name of the tool that runs in it now."""
        mine = [each for each in self.waiting if each.is_open and each.turn.thread_id == self.child.pk]
        newest = max(mine, key=lambda call: call.started.timestamp() if call.started else 0.0, default=None)
        return newest.name if newest else ""

    @property
    def usage(self) -> Usage:
        turn = self.turn
        started = turn and (turn.started or turn.created)
        seconds = int(((turn.finished or clock.now()) - started).total_seconds()) if turn and started else 0
        return Usage(
            tokens=sum(each.input_tokens + each.output_tokens for each in self.turns),
            cost=sum((each.cost for each in self.turns), Decimal(0)),
            seconds=max(seconds, 0),
            steps=sum(each.model_calls for each in self.turns if each.thread_id == self.child.pk),
        )


def look_below(children: Sequence[Thread]) -> dict[int, Below]:
    """What goes on in each of these sub-chats, by the id of its thread: at most six queries, however many."""
    known = {child.pk for child in children}
    # A sub-chat's id holds the ids of all above it.
    marks = tuple(f"_{child.chat_id}_" for child in children)
    in_trees = _TREES.rows({child.root_id_or_own for child in children})
    chats = {pk: chat for pk, chat in in_trees if pk in known or any(mark in chat for mark in marks)}
    turns, waiting = _TURNS.rows(list(chats)), _WAITING.rows(list(chats))
    tools = Counter(_STARTED.rows(known))
    texts = _texts(children, {each.thread_id for each in turns if each.is_active})
    nested = _NESTED.rows({child.chat_id for child in children}) if chats.keys() - known else []

    def below(child: Thread, inner: Iterable[Thread]) -> Below:
        mine = {pk for pk, chat in chats.items() if pk == child.pk or f"_{child.chat_id}_" in chat}
        return Below(
            child=child,
            turns=tuple(each for each in turns if each.thread_id in mine),
            waiting=tuple(each for each in waiting if each.turn.thread_id in mine),
            tools=tools[child.pk],
            text=texts.get(child.pk, ""),
            nested=tuple(below(each, ()) for each in inner),
        )

    return {
        child.pk: below(child, [each.child for each in nested if each.child.parent_id == child.chat_id]) for child in children
    }


def _texts(children: Sequence[Thread], going: Collection[int]) -> dict[int, str]:
    """What each has written last: of the growing reply if it has any text, else of the newest one that has.

    A reply that somebody stopped may be fed by its model for a moment longer, so only those that are `going` count as growing.
    """
    replies = {child.pk: live.current(child.pk) for child in children if child.pk in going}
    growing = {pk: reply.text for pk, reply in replies.items() if reply and reply.text.strip()}
    said = _SAID.rows([child.pk for child in children if child.pk not in growing])
    return growing | {pk: _text_in(parts) or _older_text(pk) for pk, parts in said if parts}


def _text_in(parts: list[dict[str, Any]]) -> str:
    return "".join(part.get("text", "") for part in parts if part["type"] == "text").strip()


def _older_text(thread_id: int) -> str:
    """A model that thinks aloud and calls tools may write nothing for a while."""
    return next((reply.text for reply in _REPLIES.filter(thread=thread_id)[:5] if reply.text.strip()), "")
