"""Lets what a database holds run to its end: turns by their runners, time by itself, and a person who says yes to all."""

import contextlib
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from django.utils import timezone

from assistants import clock
from assistants.conversations.overview import waiting_calls
from assistants.models import Message, StoredTable, Thread, ToolCall, Turn, User
from assistants.tools import registry
from assistants.turns import allowance, calls, executors, questions
from assistants.turns.sweeper import sweep
from subchats.models import Delegation, Plan, PlanStep, ResearchRun
from subchats.planning import approval
from tests.kit import turns
from tests.kit.sealed import Catcher, allow

# Names that are made up anew in every run.
NAMES = re.compile(r"(?:sub_)*chat[0-9a-f]{16}(?:_[0-9a-f]{8})*|tbl_[0-9a-f]{12}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TICK = timedelta(milliseconds=5)
LONGEST = 40


class Time:
    """A clock that stands nearly still: each look at it is five milliseconds after the one before."""

    def __init__(self, start: datetime) -> None:
        self.moment = start

    def now(self) -> datetime:
        self.moment += TICK
        return self.moment


@contextlib.contextmanager
def own_time(start: datetime) -> Iterator[Time]:
    """Everything goes by this clock."""
    time = Time(start)
    with patch.object(clock, "now", time.now), patch.object(timezone, "now", time.now):
        yield time


@contextlib.contextmanager
def declared_tools() -> Iterator[Catcher]:
    """`send` must not be repeated and asks first; `put` must not be repeated. Both stand for tools of a site's own."""
    known, made = dict(registry._tools), Catcher()
    for name in ("send", "put"):
        # Other tests of this process may have loaded a tool of that name.
        registry._tools.pop(name, None)
    made.declare("send", effect="once", sends_out=True, approval=True)
    made.declare("put", effect="once")
    try:
        yield made
    finally:
        registry._tools.clear()
        registry._tools.update(known)


def run_to_the_end(time: Time) -> None:
    """Runs, answers and waits until nothing is left to do. Fails if that does not come about."""
    for _ in range(LONGEST):
        turns.run_all()
        turns.run_jobs()
        if _speak():
            continue
        unfinished = Turn.objects.exclude(state__in=Turn.FINAL)
        if not unfinished.exists() and not executors.rung:
            return
        _wait(time)
        sweep()
        turns.commit_hooks()
    left = list(Turn.objects.exclude(state__in=Turn.FINAL).values("pk", "state", "reason"))
    raise AssertionError(f"I5: not at rest: {left}")


def _speak() -> bool:
    """The person's word on all that waits for one; says whether anything did."""
    alice = User.objects.get(username="alice")
    waiting = list(waiting_calls().order_by("turn_id", "round", "index"))
    for call in waiting:
        if not call.is_open:
            questions.answer(call, by=alice, chosen=[call.arguments["options"][0]], text="")
        elif call.needs_decision:
            calls.decide_call(call, happened=False, by="alice")
        elif approval.is_waiting(call):
            shown = Plan.objects.get(turn=call.turn_id).hash
            approval.approve(call, approval.Decision(by=alice, name="alice", shown=shown))
        else:
            allow(call, alice)
        turns.commit_hooks()
    used_up = list(Turn.objects.filter(state=Turn.State.PAUSED, reason=allowance.USED_UP).values_list("pk", flat=True))
    for turn_id in used_up:
        allowance.top_up(turn_id)
    return bool(waiting or used_up)


def _wait(time: Time) -> None:
    """Lets as much time pass as it takes until something can go on."""
    leases = Turn.objects.active().exclude(lease_until=None).values_list("lease_until", flat=True)
    pauses = Turn.objects.active().exclude(wake_at=None).values_list("wake_at", flat=True)
    ahead = [moment for moment in (*leases, *pauses) if moment > time.moment]
    time.moment = min(ahead, default=time.moment) + timedelta(seconds=1)


def check_invariants() -> None:
    """Fails at the first one that does not hold for a record at rest: I4, I5, I8, I9."""
    states = set(Turn.objects.values_list("state", flat=True))
    assert states <= set(Turn.FINAL), f"I5: {states}"
    assert not ToolCall.objects.filter(state="open").exists(), "I8: a call without a result"
    results = Counter(message.parts[0]["call"] for message in Message.objects.filter(role="tool"))
    assert set(results.values()) <= {1}, "I8: a call with two results"
    assert set(results) == {str(call.pk) for call in ToolCall.objects.exclude(message=None)}, "I8: each call has its result"
    for delegation in Delegation.objects.exclude(call=None).select_related("call"):
        assert delegation.returned_at or delegation.call.outcome not in ("ok", "error"), "I9: settled without its report"
    places = Counter(Delegation.objects.exclude(call=None).values_list("call_id", "position"))
    assert set(places.values()) <= {1}, "I9: a call with two children in one place"
    for thread in Thread.objects.all():
        numbers = list(thread.events.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, thread.last_event + 1)), "I4: a hole in the events"
    assert not Message.objects.filter(state__in=["streaming", "queued"]).exists(), "I5: a reply that grows for ever"


def the_end() -> dict[str, Any]:
    """How everything ended, without what differs from run to run: of each conversation its turns, calls and last words."""
    ended = [_end_of(thread) for thread in Thread.objects.order_by("pk")]
    return {
        "threads": ended,
        "plans": [list(_steps(plan)) for plan in Plan.objects.order_by("pk")],
        "tables": StoredTable.objects.count(),
        "results": sum(run.results.count() for run in ResearchRun.objects.all()),
    }


def _end_of(thread: Thread) -> dict[str, Any]:
    calls = ToolCall.objects.filter(turn__thread=thread).order_by("turn_id", "round", "index")
    last = thread.messages.filter(role="assistant").order_by("sequence").last()
    return {
        "above": thread.parent and Thread.objects.filter(pk__lt=thread.parent.pk).count(),
        "turns": [[turn.state, turn.reason] for turn in thread.turns.order_by("pk")],
        "calls": [[call.name, call.outcome, call.code] for call in calls],
        "last": NAMES.sub("…", last.text) if last else None,
    }


def _steps(plan: Plan) -> Iterator[list[Any]]:
    for step in PlanStep.objects.filter(plan=plan).order_by("index"):
        yield [step.index, step.status]
