"""Cuts off sub-chats that give no sign of life or work for too long (J-18, J-19, section 8)."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.conf import settings
from django.db.models import Max, Q

from assistants import clock
from assistants.models import SpendEntry, ToolCall, Turn
from assistants.tools.registry import find_tool

from . import claims
from .calls import QUESTION_TOOL
from .claims import locked
from .lifecycle import end_now

log = logging.getLogger(__name__)

IDLE, WALL = "limit:idle", "limit:wall"
# A tool that ran into its own time-out is given up by its runner; only a dead one leaves it open for longer than that.
GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Verdict:
    """Why a turn is cut off: the reason's code, and a sentence for whoever reads its card."""

    reason: str
    note: str


@dataclass(frozen=True)
class Span:
    """A stretch of time in which something went on."""

    start: datetime
    end: datetime


def watch(**_: Any) -> int:
    """Cuts off every overdue sub-chat of whichever process, and gives how many; asked by the sweeper.

    Watched are turns that a caller waits for, no others: a person's own conversation may take its time. The provider's
    own limits (`TimeLimits`: 60 s to the first token, 30 s between tokens) end one model call, which is tried again up to
    three times; the watchdog ends the whole run, so with the idle time set below theirs nothing is tried again.
    The deepest go first, so that a caller whose own time is up can still take their reports in.
    """
    found = Turn.objects.filter(state__in=[Turn.State.THINKING, Turn.State.ACTING, Turn.State.WAITING], root__isnull=False)
    turns = list(found.select_related("thread__assistant").order_by("-pk"))
    return sum(_cut_off(turn.pk) for turn in turns if overdue(turn, clock.now()))


def overdue(turn: Turn, now: datetime) -> Verdict | None:
    """Whether this run has to be cut off at this moment; None as long as it is at work, waits or was not begun."""
    if turn.started is None or turn.is_final or turn.state == Turn.State.PAUSED:
        return None
    idle, wall = limits_of(turn)
    if turn.state != Turn.State.WAITING and _is_idle(turn, now, idle):
        return Verdict(IDLE, f"It was cut off: it gave no sign of life for {idle:g} seconds.")
    if _seconds(now - turn.started) > wall and work_seconds(turn, now) > wall:
        return Verdict(WALL, f"It was cut off: it worked for longer than {wall:g} seconds.")
    return None


def limits_of(turn: Turn) -> tuple[float, float]:
    """Seconds of silence and seconds of work that this run may have: its assistant's own, else the site's."""
    assistant = turn.thread.assistant
    idle = assistant.idle_seconds if assistant else None
    wall = assistant.wall_seconds if assistant else None
    return (
        float(settings.TASKMONKEY["SUBCHAT_IDLE_SECONDS"] if idle is None else idle),
        float(settings.TASKMONKEY["SUBCHAT_WALL_SECONDS"] if wall is None else wall),
    )


def work_seconds(turn: Turn, now: datetime) -> float:
    """How long the run has worked: in model calls, in tools and in its own sub-chats, without the time in which it, or
    one of those, waited for a person or was run by nobody. A person's silence is never a time-out, nor is a crash of ours."""
    work = [*_model_spans([turn.pk], now), *_spans(turn.calls.exclude(started=None).values_list("started", "settled"), now)]
    below = _turns_below(turn)
    gaps = chain.from_iterable(_gaps(each, now) for each in Turn.objects.filter(pk__in=[turn.pk, *below]))
    waits = [*_decision_spans([turn.pk, *below], now), *_question_spans(below, now), *gaps]
    return _length([*work, *waits]) - _length(waits)


def _is_idle(turn: Turn, now: datetime, idle: float) -> bool:
    if not claims.is_held(turn, now):
        # Its runner died, or the whole site was down. It will be taken up, and has time again from then on.
        return False
    if turn.beat and _seconds(now - turn.beat) <= idle:
        return False
    running = turn.calls.filter(state=ToolCall.State.OPEN).exclude(started=None)
    if any(now <= call.started + _allowed(call) for call in running if call.started):
        return False
    return _seconds(now - last_sign(turn)) > idle


def last_sign(turn: Turn) -> datetime:
    """The newest trace of this run in the record: a delta, a tool's start or end, a model call's start or end, a new runner."""
    calls = turn.calls.aggregate(started=Max("started"), settled=Max("settled"))
    entries = turn.spend_entries.aggregate(created=Max("created"), settled=Max("settled"))
    signs: list[datetime | None] = [turn.started, turn.beat, *calls.values(), *entries.values()]
    signs += [gap.end for gap in _gaps(turn, clock.now())]
    return max(each for each in signs if each)


def _allowed(call: ToolCall) -> timedelta:
    """A running tool may be silent for as long as it was declared to take."""
    tool = find_tool(call.name)
    seconds = (tool.seconds if tool else None) or settings.TASKMONKEY["TOOL_SECONDS"]
    return timedelta(seconds=float(seconds) + GRACE_SECONDS)


def _cut_off(turn_id: int) -> bool:
    try:
        with locked(turn_id) as turn:
            # It may have come to life, or to its end, since it was looked at.
            verdict = overdue(turn, clock.now())
            if verdict:
                end_now(turn, state=Turn.State.FAILED, reason=verdict.reason, note=verdict.note, by="the platform")
        return verdict is not None
    except Exception:
        log.exception("turn %s could not be cut off; the next look tries again", turn_id)
        return False


def _turns_below(turn: Turn) -> list[int]:
    # A sub-chat's id holds the ids of all above it.
    below = Turn.objects.filter(root=turn.root_id, thread__chat_id__contains=f"_{turn.thread.chat_id}_")
    return list(below.values_list("pk", flat=True))


def _model_spans(turns: list[int], now: datetime) -> list[Span]:
    return _spans(SpendEntry.objects.filter(turn__in=turns).values_list("created", "settled"), now)


def _decision_spans(turns: list[int], now: datetime) -> list[Span]:
    """Calls that waited for a person's word: an approval, or what became of a call that was cut off."""
    unsure = Q(needs_decision=True) | Q(code="OUTCOME_UNKNOWN")
    asked = ToolCall.objects.filter(turn__in=turns).filter(unsure | Q(approval__isnull=False))
    spans = []
    for call in asked:
        details = {"at": call.started, "decided": call.settled, **(call.approval or {})}
        since, until = _moment(details["at"]), _moment(details["decided"]) or call.settled or now
        if since:
            spans.append(Span(since, until))
    return spans


def _moment(value: datetime | str | None) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _question_spans(turns: list[int], now: datetime) -> list[Span]:
    """From a question that ended a sub-chat's turn to the turn that the answer started."""
    asked = ToolCall.objects.filter(turn__in=turns, name=QUESTION_TOOL, outcome=ToolCall.Outcome.OK)
    spans = []
    for call in asked.select_related("turn"):
        following = Turn.objects.filter(thread=call.turn.thread_id, pk__gt=call.turn_id).order_by("pk").first()
        if call.settled:
            spans.append(Span(call.settled, following.created if following else now))
    return spans


def _gaps(turn: Turn, now: datetime) -> list[Span]:
    """When nobody ran the turn although it could go on."""
    gaps = [Span(*map(datetime.fromisoformat, pair)) for pair in turn.unattended or []]
    since = turn.lease_until or turn.beat
    if since and turn.state in claims.AT_WORK and not claims.is_held(turn, now):
        gaps.append(Span(since, now))
    return gaps


def _spans(pairs: Iterable[tuple[datetime | None, datetime | None]], now: datetime) -> list[Span]:
    return [Span(start, end or now) for start, end in pairs if start]


def _length(spans: list[Span]) -> float:
    """Seconds that are in at least one of the spans."""
    total, reached = 0.0, None
    for span in sorted(spans, key=lambda each: each.start):
        start = max(span.start, reached) if reached else span.start
        total += max(_seconds(span.end - start), 0.0)
        reached = max(span.end, reached) if reached else span.end
    return total


def _seconds(span: timedelta) -> float:
    return span.total_seconds()
