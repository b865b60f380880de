"""Two processes run the same turns, cut off anywhere, while people speak: what must hold does so after each step (D1, D4)."""

import contextlib
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from assistants.conversations.overview import waiting_calls
from assistants.errors import CodedError
from assistants.models import Message, SpendEntry, Thread, ToolCall, Turn, TurnEvent
from assistants.turns import claims, executors
from assistants.turns.budget import cap_of
from assistants.turns.lifecycle import stop_turn
from assistants.turns.sweeper import sweep
from subchats.models import Delegation
from tests.budget.ledger import check, largest_call, spent
from tests.kit import turns
from tests.properties.runners import Runner, taking_turns
from tests.properties.test_people import CAPS, catching, check_words, decide, rest, settle_town, wish
from tests.properties.test_trees import check_record, own_clock
from tests.properties.trees import Deed, Node, towns

PROCESSES = ("a:1", "b:1")
PLACES = st.integers(0, 5)


class TwoRunners(RuleBasedStateMachine):
    """A conversation with sub-chats, the bells that ring for its turns, and two processes that may hear them."""

    def __init__(self) -> None:
        super().__init__()
        self.around = contextlib.ExitStack()
        self.around.enter_context(transaction.atomic())
        self.time = self.around.enter_context(own_clock())
        self.caught = self.around.enter_context(catching())
        self.around.enter_context(taking_turns())
        self.alive: list[Runner] = []
        self.dead: list[Runner] = []
        self.fences: dict[int, int] = {}
        self.ends: dict[int, tuple[str, str]] = {}
        self.results: dict[Any, tuple[str, str]] = {}
        self.sound = False

    @initialize(tree=towns, cap=CAPS)
    def begin(self, tree: Node, cap: int | None) -> None:
        settle_town(tree, cap)

    @precondition(lambda self: executors.rung and len(self.alive) < 2)
    @rule(which=PLACES, process=st.sampled_from(PROCESSES))
    def hear(self, which: int, process: str) -> None:
        """A bell is heard; the turn may be run already."""
        self.alive.append(Runner(executors.rung.pop(which % len(executors.rung)), process))

    @precondition(lambda self: self.alive)
    @rule(which=PLACES, steps=st.integers(1, 12))
    def carry_on(self, which: int, steps: int) -> None:
        runner = self.alive[which % len(self.alive)]
        for _ in range(steps):
            self._step(runner)

    @precondition(lambda self: len(self.alive) > 1)
    @rule(order=st.lists(st.integers(0, 1), min_size=4, max_size=12))
    def alternate(self, order: list[int]) -> None:
        """Both go on, a step of one, a step of the other."""
        both = list(self.alive)
        for which in order:
            self._step(both[which])

    @precondition(lambda self: self.alive)
    @rule(which=PLACES)
    def kill(self, which: int) -> None:
        """The process dies where it stands. It leaves its lease behind."""
        self.dead.append(self.alive.pop(which % len(self.alive)))

    @precondition(lambda self: executors.rung)
    @rule(which=PLACES, times=st.sampled_from([0, 2, 5]))
    def bell(self, which: int, times: int) -> None:
        """A bell is lost, or rings again and again (F16)."""
        turn_id = executors.rung.pop(which % len(executors.rung))
        executors.rung.extend([turn_id] * times)

    @rule(seconds=st.sampled_from([2, 11, 11, 70]))
    def later(self, seconds: int) -> None:
        """After eleven seconds a lease has run out, unless its process has given a sign of life."""
        self.time.moved += timedelta(seconds=seconds)

    @rule(process=st.sampled_from(PROCESSES))
    def beat(self, process: str) -> None:
        claims.renew(process)

    @rule(process=st.sampled_from(PROCESSES))
    def start_again(self, process: str) -> None:
        """A process takes the place of one that died, and its turns at once (P4)."""
        slot = process.split(":")[0]
        self.dead += [each for each in self.alive if each.process == process]
        self.alive = [each for each in self.alive if each.process != process]
        claims.expire_slot(slot, but=f"{slot}:2")

    @rule()
    def sweep(self) -> None:
        sweep()

    @precondition(lambda self: waiting_calls().exists())
    @rule(which=PLACES, nth=st.integers(0, 1))
    def speak(self, which: int, nth: int) -> None:
        found = list(waiting_calls().order_by("turn_id", "round", "index"))
        decide(found[which % len(found)], Deed("decide", which, nth=nth))

    @rule(which=PLACES, nth=st.integers(0, 2))
    def steer(self, which: int, nth: int) -> None:
        with contextlib.suppress(CodedError):
            wish(Deed("steer", which, nth=nth), self.time)

    @precondition(lambda self: Turn.objects.active().exists())
    @rule(which=PLACES)
    def stop(self, which: int) -> None:
        found = list(Turn.objects.active().order_by("pk"))
        stop_turn(found[which % len(found)].pk, by="alice")

    @invariant()
    def holds(self) -> None:
        self.sound = False
        turns.commit_hooks()
        self._check_turns()
        self._check_calls()
        self._check_events()
        self._check_spending()
        self.sound = True

    def teardown(self) -> None:
        """Everybody comes to an end, late ones too, and what must be true of a record at rest is."""
        try:
            if self.sound:
                for runner in self.alive:
                    runner.finish()
                    self.holds()
                rest(self.time)
                self.holds()
                check_record()
                check_words(self.caught)
                for root in Turn.objects.filter(root=None):
                    check(root)
        finally:
            for runner in (*self.alive, *self.dead):
                runner.bury()
            turns.forget()
            transaction.set_rollback(True)
            self.around.close()

    def _step(self, runner: Runner) -> None:
        runner.step()
        turns.commit_hooks()
        if runner.over and runner in self.alive:
            self.alive.remove(runner)

    def _check_turns(self) -> None:
        for turn in Turn.objects.all():
            assert turn.fence >= self.fences.get(turn.pk, 0), f"I6: the fence of turn {turn.pk} went back"
            self.fences[turn.pk] = turn.fence
            end = (turn.state, turn.reason) if turn.is_final else None
            known = self.ends.setdefault(turn.pk, end) if end else self.ends.get(turn.pk)
            assert end == known, f"I5: turn {turn.pk} had ended as {known}, and is {turn.state} now"
        running = Turn.objects.active().filter(root__isnull=False, thread__delegation__returned_at=None)
        orphans = running.filter(thread__delegation__call__turn__state__in=Turn.FINAL)
        assert not orphans.exists(), f"I9: {list(orphans)} run under a caller that has ended"

    def _check_calls(self) -> None:
        told = [message.parts[0]["call"] for message in Message.objects.filter(role="tool")]
        assert len(told) == len(set(told)), "I8: a call with two results"
        settled = {call.pk: (call.outcome, call.result) for call in ToolCall.objects.filter(state="settled")}
        assert {str(pk) for pk in settled} == set(told), "I8: a result without its call, or a settled call without its result"
        for pk, result in self.results.items():
            assert settled.get(pk) == result, f"I8: the result of call {pk} was changed"
        self.results = settled
        places = list(Delegation.objects.values_list("call_id", "position"))
        assert len(places) == len(set(places)), "I9: a call with two children in one place"

    def _check_events(self) -> None:
        numbers: dict[int, list[int]] = {}
        for thread, number in TurnEvent.objects.order_by("thread", "number").values_list("thread", "number"):
            numbers.setdefault(thread, []).append(number)
        for thread, last in Thread.objects.values_list("pk", "last_event"):
            assert numbers.get(thread, []) == list(range(1, last + 1)), f"I4: a hole in the events of thread {thread}"

    def _check_spending(self) -> None:
        for root in Turn.objects.filter(root=None, pk__in=SpendEntry.objects.values("root")):
            cap = cap_of(root)
            assert not cap or spent(root) <= cap + largest_call(root), f"I10: {spent(root)} of {cap} tokens were spent"


@pytest.mark.django_db
def test_d4_two_runners_cut_off_anywhere_never_settle_twice_or_leave_anything_behind() -> None:
    """I4, I5, I6, I8, I9 and I10 after each step, P8 and P15 at the end."""
    run_state_machine_as_test(
        TwoRunners,
        settings=settings(max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)),
    )
