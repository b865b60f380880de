"""A conversation with everything above and below it, and what each part used. No content: that is its owner's."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum

from assistants.models import Thread, ToolCall, Turn, TurnEvent

MOST_TURNS, MOST_EVENTS = 50, 200


@dataclass(frozen=True)
class Branch:
    """One conversation of a tree; `depth` is 0 for the root. Tokens are input and output together."""

    thread: Thread
    depth: int
    is_here: bool
    state: str
    turns: int
    tokens: int
    cost: Decimal

    @property
    def state_word(self) -> str:
        return str(Turn.State(self.state).label)


@dataclass(frozen=True)
class Run:
    """One turn with its calls in order, and how many seconds it took, if it has ended."""

    turn: Turn
    calls: tuple[ToolCall, ...]
    seconds: float | None


def branches_of(thread: Thread) -> list[Branch]:
    """The whole tree that the conversation belongs to, parents before their sub-chats."""
    root_id = thread.root_id_or_own
    usage = {"turn_count": Count("turns"), "tokens": Sum("turns__input_tokens") + Sum("turns__output_tokens")}
    found = Thread.objects.filter(Q(pk=root_id) | Q(root_id=root_id)).select_related("assistant", "owner")
    threads = list(found.annotate(**usage, cost=Sum("turns__cost")).order_by("pk"))
    states = dict(Turn.objects.filter(thread__in=threads).order_by("pk").values_list("thread_id", "state"))
    below: dict[str | None, list[Thread]] = {}
    for each in threads:
        below.setdefault(each.parent_id, []).append(each)

    def walk(parent: str | None, depth: int) -> Iterator[Branch]:
        for each in below.get(parent, ()):
            yield Branch(
                thread=each,
                depth=depth,
                is_here=each.pk == thread.pk,
                state=states.get(each.pk, ""),
                turns=each.turn_count,
                tokens=each.tokens or 0,
                cost=each.cost or Decimal(0),
            )
            yield from walk(each.chat_id, depth + 1)

    return list(walk(None, 0))


def runs_of(thread: Thread) -> list[Run]:
    """The newest 50 turns, newest first."""
    turns = thread.turns.order_by("-pk").prefetch_related("calls")[:MOST_TURNS]
    return [run_of(turn) for turn in turns]


def run_of(turn: Turn) -> Run:
    took = (turn.finished - turn.started).total_seconds() if turn.finished and turn.started else None
    return Run(turn=turn, calls=tuple(turn.calls.all()), seconds=took)


def events_of(thread: Thread) -> list[TurnEvent]:
    """The newest 200 events, newest first."""
    return list(thread.events.order_by("-number")[:MOST_EVENTS])
