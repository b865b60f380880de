"""Who did what when in a turn's tree: thinking, using tools, waiting for others or for a person, pausing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistants import clock
from assistants.models import Thread, ToolCall, Turn, TurnEvent
from assistants.models.definition import name_of
from assistants.models.prepared import Prepared
from assistants.tools.registry import find_tool

from .overview import ending_of, waiting_calls
from .present import Present

THINKING, TOOLS, OTHERS, PERSON, PAUSE = KINDS = ("thinking", "tools", "others", "person", "pause")
_BY_STATE = {Turn.State.THINKING: THINKING, Turn.State.ACTING: TOOLS, Turn.State.WAITING: OTHERS, Turn.State.PAUSED: PAUSE}
_ASKING = Prepared(lambda turns: waiting_calls().filter(turn__pk__in=turns).values_list("turn__thread", "state"))
_TOLD = Prepared(
    lambda threads, since: (
        TurnEvent.objects.filter(thread__pk__in=threads, kind="turn", created__gte=since)
        .order_by("thread", "number")
        .values_list("created", "payload")
    )
)
_CALLS = Prepared(
    lambda turns: ToolCall.objects.filter(turn__pk__in=turns).only("turn_id", "round", "name", "started", "settled", "approval")
)
# The shortest stretch that is still to be seen, in per cent of the whole.
LEAST = 0.7


@dataclass(frozen=True)
class Stretch:
    """What an agent did without a break."""

    kind: str
    begin: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        return max((self.end - self.begin).total_seconds(), 0.0)


@dataclass(frozen=True)
class Segment:
    """A stretch as it is drawn: `start` and `length` in per cent of the whole time."""

    kind: str
    start: float
    length: float


@dataclass(frozen=True)
class Row:
    """One agent. `state` is its last turn's, or asking (a question), held (a person is needed here or below), handed_back
    or cut_off.

    `seconds` are those of its turns; while one runs, a clock that began at `since` shows them.
    """

    thread: Thread
    name: str
    state: str
    depth: int
    tokens: int
    cost: float
    seconds: int
    since: str
    segments: tuple[Segment, ...]
    spent: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Timeline:
    """The turn at the top and all that was started below it, with their sums; `kinds` are those that occur."""

    rows: tuple[Row, ...]
    tokens: int
    cost: float
    seconds: int
    since: str
    kinds: tuple[str, ...]


def timeline_of(present: Present) -> Timeline | None:
    """The present turn of this conversation, else its last one, with everything below it; None before the first.

    At most three queries, however many agents.
    """
    turn = present.turn
    if turn is None:
        return None
    agents = _agents(present)
    turns = [each for agent in agents for each in agent]
    may_ask = any(each.is_active or each.reason == "question" for each in turns)
    asking = dict(_ASKING.rows([each.pk for each in turns])) if may_ask else {}
    stretches = _stretches(agents, set(asking))
    start = min(each.begin for every in stretches for each in every)
    end = max(each.end for every in stretches for each in every)
    whole = max((end - start).total_seconds(), 0.001)
    rows = tuple(
        _row(agent, each, top=present.thread, start=start, whole=whole, state=_state(agent[-1], asking, agents))
        for agent, each in zip(agents, stretches, strict=True)
    )
    used = {stretch.kind for every in stretches for stretch in every}
    return Timeline(
        rows=rows,
        tokens=sum(each.tokens for each in rows),
        cost=sum(each.cost for each in rows),
        seconds=int(whole),
        since="" if turn.is_final else start.isoformat(timespec="seconds"),
        kinds=tuple(kind for kind in KINDS if kind in used),
    )


def _agents(present: Present) -> list[list[Turn]]:
    """The turns of the tree from this conversation down, by conversation: one that asked has several."""
    agents: dict[int, list[Turn]] = {}
    for each in present.below:
        if each.state != Turn.State.QUEUED:
            agents.setdefault(each.thread_id, []).append(each)
    return list(agents.values())


def _stretches(agents: Sequence[Sequence[Turn]], asking: set[int]) -> list[list[Stretch]]:
    turns = [each for agent in agents for each in agent]
    first = min(each.created for each in turns)
    stamps: dict[int, list[tuple[datetime, str, int]]] = {each.pk: [] for each in turns}
    for at, payload in _TOLD.rows({each.thread_id for each in turns}, first):
        if payload["turn"] in stamps and "state" in payload:
            stamps[payload["turn"]].append((at, payload["state"], payload["round"]))
    waited = {turn for turn, states in stamps.items() if any(state == Turn.State.WAITING for _, state, _ in states)}
    calls: dict[tuple[int, int], list[ToolCall]] = {}
    for call in _CALLS.rows(waited):
        calls.setdefault((call.turn_id, call.round), []).append(call)
    return [_of_agent(agent, stamps, calls, agent[-1].thread_id in asking) for agent in agents]


def _of_agent(agent: Sequence[Turn], stamps: dict[int, Any], calls: dict[Any, list[ToolCall]], asks: bool) -> list[Stretch]:
    found: list[Stretch] = []
    for turn in agent:
        begin = turn.started or turn.created
        if found and found[-1].end < begin:
            found.append(Stretch(PERSON, found[-1].end, begin))
        found += _of_turn(turn, stamps[turn.pk], calls)
    if asks and agent[-1].is_final:
        found.append(Stretch(PERSON, found[-1].end, clock.now()))
    return found


def _of_turn(turn: Turn, stamps: list[tuple[datetime, str, int]], calls: dict[Any, list[ToolCall]]) -> list[Stretch]:
    last = turn.finished or clock.now()
    # What was recorded before states were told is known as a whole only.
    begun = [each for each in stamps if each[1] in _BY_STATE] or [(turn.started or turn.created, Turn.State.THINKING, 0)]
    ends = [at for at, _, _ in begun[1:]] + [last]
    found: list[Stretch] = []
    for (at, state, number), end in zip(begun, ends, strict=True):
        kind = _BY_STATE[Turn.State(state)]
        if kind == OTHERS and _waits_for_person(calls.get((turn.pk, number), []), at):
            kind = PERSON
        if found and found[-1].kind == kind:
            found[-1] = Stretch(kind, found[-1].begin, max(end, at))
        else:
            found.append(Stretch(kind, at, max(end, at)))
    return found


def _waits_for_person(calls: Iterable[ToolCall], at: datetime) -> bool:
    """Whether a call that was still open then is one that only a person settles: an approval, or nothing handed over."""
    still = [call for call in calls if call.settled is None or call.settled > at]
    return any((call.approval and not call.started) or not _delegates(call.name) for call in still)


def _delegates(name: str) -> bool:
    tool = find_tool(name)
    return tool is not None and tool.delegates


def _state(turn: Turn, asking: dict[int, str], agents: Sequence[Sequence[Turn]]) -> str:
    mine = asking.get(turn.thread_id)
    if mine:
        return "held" if mine == ToolCall.State.OPEN else "asking"
    chat_id = f"_{turn.thread.chat_id}_"
    if turn.state == Turn.State.WAITING and any(a[-1].thread_id in asking and chat_id in a[-1].thread.chat_id for a in agents):
        return "held"
    return ending_of(str(turn.state), turn.reason)


def _row(agent: Sequence[Turn], stretches: list[Stretch], *, top: Thread, start: datetime, whole: float, state: str) -> Row:
    thread, last = agent[-1].thread, agent[-1]
    spans = [((turn.finished or clock.now()) - (turn.started or turn.created)) for turn in agent]
    before = sum((span.total_seconds() for span in spans[:-1]), 0.0)
    since = datetime.fromtimestamp((last.started or last.created).timestamp() - before, tz=start.tzinfo)
    spent = {kind: sum(each.seconds for each in stretches if each.kind == kind) for kind in KINDS}
    return Row(
        thread=thread,
        name=name_of(thread),
        state=state,
        depth=thread.chat_id.count("sub_") - top.chat_id.count("sub_"),
        tokens=sum(turn.input_tokens + turn.output_tokens for turn in agent),
        cost=float(sum(turn.cost for turn in agent)),
        seconds=int(sum(span.total_seconds() for span in spans)),
        since="" if last.is_final else since.isoformat(timespec="seconds"),
        segments=tuple(
            Segment(
                each.kind,
                round((each.begin - start).total_seconds() / whole * 100, 2),
                round(max(each.seconds / whole * 100, LEAST), 2),
            )
            for each in stretches
        ),
        spent=tuple((kind, int(seconds)) for kind, seconds in spent.items() if seconds),
    )
