"""Whatever happens to a tree of assistants: no orphan, no double result, and it comes to rest (I5, I8, I9, P8)."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from assistants import clock, failpoints
from assistants.models import Message, Thread, ToolCall, Turn
from assistants.turns import executors
from assistants.turns.claims import claim_turn
from assistants.turns.lifecycle import stop_turn
from assistants.turns.loop import run_turn
from assistants.turns.sweeper import sweep
from subchats.models import Delegation
from tests.kit import turns, world
from tests.properties.trees import Deed, Node, deeds, script_of, trees

TEAM_TOOLS = ["invoke_assistant", "spawn_agents", "write_plan", "confirm_step", "hand_back"]


class Clock:
    """A clock that a test moves on."""

    def __init__(self) -> None:
        self.moved = timedelta()
        self.real = clock.now

    def now(self) -> object:
        return self.real() + self.moved


@contextlib.contextmanager
def own_clock() -> Iterator[Clock]:
    moving = Clock()
    with patch.object(clock, "now", moving.now):
        yield moving


def begin(tree: Node) -> Thread:
    """A conversation whose lead and workers all follow the tree's script."""
    turns.forget()
    ground = world.build()
    ground.lead.tools = TEAM_TOOLS
    ground.lead.save()
    ground.script(script_of(tree))
    ground.assistant("worker", tools=TEAM_TOOLS, profile=ground.lead.profile)
    thread = ground.open("Do <0>")
    turns.commit_hooks()
    return thread


def happen(deed: Deed, moving: Clock) -> None:
    active = list(Turn.objects.active().order_by("pk"))
    match deed.kind:
        case "run" if executors.rung:
            run_turn(executors.rung.pop(deed.which % len(executors.rung)))
        case "die" if executors.rung:
            claim_turn(executors.rung.pop(deed.which % len(executors.rung)), holder="dead:1")
        case "crash" if executors.rung:
            armed = patch.dict(failpoints.ARMED, {deed.point: f"raise:{deed.nth}"})
            # At the first of the points nobody holds the turn yet, so the runner's own thread hears of it.
            with armed, patch.dict(failpoints._passed, clear=True), contextlib.suppress(RuntimeError):
                run_turn(executors.rung.pop(deed.which % len(executors.rung)))
        case "stop" if active:
            stop_turn(active[deed.which % len(active)].pk, by="alice")
        case "sweep":
            sweep()
        case "later":
            moving.moved += timedelta(seconds=20)
    turns.commit_hooks()


def come_to_rest(moving: Clock) -> None:
    for _ in range(60):
        if not Turn.objects.active().exists():
            return
        turns.run_all()
        moving.moved += timedelta(seconds=70)
        sweep()
        turns.commit_hooks()
    raise AssertionError(f"not at rest: {list(Turn.objects.active().values('pk', 'state', 'reason'))}")


def check_record() -> None:
    results = Counter(message.parts[0]["call"] for message in Message.objects.filter(role="tool"))
    assert not ToolCall.objects.filter(state="open").exists(), "I8: a call without a result"
    assert set(results.values()) <= {1}, "I8: a call with two results"
    assert set(results) == {str(call.pk) for call in ToolCall.objects.all()}, "I8: each call has its result"
    for delegation in Delegation.objects.select_related("call"):
        assert delegation.child.turns.exclude(state__in=Turn.FINAL).count() == 0, "I9: a running child"
        if delegation.returned_at and delegation.call.outcome in ("ok", "error"):
            assert delegation.returned_at <= delegation.call.settled, "J-11: settled before all reports were in"
    places = Counter(Delegation.objects.values_list("call_id", "position"))
    assert set(places.values()) <= {1}, "I9: a call with two children in one place"
    for thread in Thread.objects.all():
        numbers = list(thread.events.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, thread.last_event + 1)), "I4: a hole in the events"


class Trees(TestCase):
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(tree=trees, story=st.lists(deeds, max_size=25))
    def test_a_tree_comes_to_rest_without_orphans_or_double_results(self, tree: Node, story: list[Deed]) -> None:
        with own_clock() as moving:
            begin(tree)

            for deed in story:
                happen(deed, moving)
            come_to_rest(moving)

            check_record()

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(tree=trees, order=st.lists(st.integers(0, 9), max_size=30))
    def test_without_a_mishap_every_report_arrives_once_in_any_order(self, tree: Node, order: list[int]) -> None:
        with own_clock() as moving:
            begin(tree)

            for which in order:
                happen(Deed("run", which), moving)
            come_to_rest(moving)

            check_record()
            assert not Delegation.objects.filter(returned_at=None).exists()
            for call in ToolCall.objects.filter(name="invoke_assistant", outcome__in=["ok", "error"]):
                child = Delegation.objects.get(call=call).child
                assert json.loads(call.result)["sub_chat_id"] == child.chat_id
