"""Where a conversation stands: its ancestors, and who works in its present turn."""

from dataclasses import dataclass

from django import template
from django.db.models import Q

from assistants import clock
from assistants.models import Thread, Turn
from assistants.models.definition import Definition, definition_of

from .look import Look, turn_look

register = template.Library()


@dataclass(frozen=True)
class Worker:
    """One turn of the tree: who, how far, and its part of the whole time in per cent, for the bar."""

    thread: Thread
    definition: Definition
    look: Look
    depth: int
    tokens: int
    seconds: int
    since: str
    start: float
    length: float


@dataclass(frozen=True)
class Tree:
    """The turn at the top of the tree and all that were started below it, with their sums."""

    workers: list[Worker]
    tokens: int
    cost: float
    seconds: int
    since: str


@register.simple_tag
def turn_tree(thread: Thread) -> Tree | None:
    """The present turn of this conversation, else its last one, with everything below it; None before the first."""
    turn = thread.turns.exclude(state=Turn.State.QUEUED).order_by("-pk").first()
    if turn is None:
        return None
    found = Turn.objects.filter(Q(pk=turn.pk) | Q(root=turn.root_id or turn.pk)).exclude(state=Turn.State.QUEUED)
    turns = [each for each in found.select_related("thread__assistant").order_by("pk") if _is_below(each.thread, thread)]
    start = turn.started or turn.created
    end = max((each.finished or clock.now()) for each in turns)
    whole = max((end - start).total_seconds(), 0.001)
    return Tree(
        workers=[_worker(each, top=thread, start=start, whole=whole) for each in turns],
        tokens=sum(each.input_tokens + each.output_tokens for each in turns),
        cost=float(sum(each.cost for each in turns)),
        seconds=int(whole),
        since="" if turn.is_final else start.isoformat(timespec="seconds"),
    )


@register.simple_tag
def ancestors(thread: Thread) -> list[Thread]:
    """The conversations above a sub-chat, the topmost first."""
    chain: list[Thread] = []
    while thread.parent is not None:
        thread = thread.parent
        chain.insert(0, thread)
    return chain


@register.filter
def answerer(thread: Thread) -> Definition:
    """Who answers in a conversation."""
    return definition_of(thread)


def _is_below(thread: Thread, top: Thread) -> bool:
    # A sub-chat's id holds the ids of all above it.
    return thread.pk == top.pk or f"_{top.chat_id}_" in thread.chat_id


def _worker(turn: Turn, *, top: Thread, start: object, whole: float) -> Worker:
    began = turn.started or turn.created
    seconds = ((turn.finished or clock.now()) - began).total_seconds()
    return Worker(
        thread=turn.thread,
        definition=definition_of(turn.thread),
        look=turn_look(turn),
        depth=turn.thread.chat_id.count("sub_") - top.chat_id.count("sub_"),
        tokens=turn.input_tokens + turn.output_tokens,
        seconds=int(seconds),
        since="" if turn.is_final else began.isoformat(timespec="seconds"),
        start=round(max((began - start).total_seconds(), 0) / whole * 100, 1),  # type: ignore[operator]
        length=round(max(seconds / whole * 100, 2), 1),
    )
