"""Leases, fencing, take-over and what the sweeper finds, with an injected clock (D4, F03, F09, E2)."""

import socket
from datetime import timedelta
from types import SimpleNamespace

import pytest

from assistants import clock
from assistants.errors import LeaseLost
from assistants.llm import scripted
from assistants.models import Message, ToolCall, Turn
from assistants.turns import calls, claims, engine, executors, lifecycle, loop
from assistants.turns.sweeper import sweep
from tests.kit.turns import commit_hooks, last_turn, replies, run_all


@pytest.fixture
def later(monkeypatch):
    """Moves the clock on by so many seconds."""
    moved = {"by": 0.0}
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(seconds=moved["by"]))

    def move(seconds):
        moved["by"] += seconds

    return move


def test_a_turn_is_claimed_once(ground):
    thread = ground.open()
    turn = last_turn(thread)

    first = claims.claim_turn(turn.pk, holder="a:1")
    second = claims.claim_turn(turn.pk, holder="b:1")

    assert first and second is None


def test_f03_a_dead_holders_turn_is_taken_over_when_its_lease_has_run_out(ground, later):
    thread = ground.open()
    turn = last_turn(thread)
    claims.claim_turn(turn.pk, holder="dead:1")
    commit_hooks()
    executors.rung.clear()
    assert sweep() == 0
    later(11)

    sweep()
    run_all()

    turn.refresh_from_db()
    assert (turn.state, turn.attempt) == (Turn.State.DONE, 2)
    assert len(scripted.requests(ground.lead.profile.model)) == 1


def test_f09_a_zombies_writes_are_refused_and_the_fence_only_grows(ground, later):
    turn = last_turn(ground.open())
    zombie = claims.claim_turn(turn.pk, holder="zombie:1")
    later(11)
    heir = claims.claim_turn(turn.pk, holder="heir:1")
    assert heir.fence > zombie.fence and heir.taken_over

    with pytest.raises(LeaseLost), claims.holding(zombie) as held:
        lifecycle.finish_turn(held, state=Turn.State.DONE)

    turn.refresh_from_db()
    assert turn.state == Turn.State.THINKING


def test_a_heartbeat_keeps_the_lease(ground, later):
    turn = last_turn(ground.open())
    claims.claim_turn(turn.pk, holder="me:1")
    later(9)
    assert claims.renew("me:1") == 1
    later(9)

    assert claims.claim_turn(turn.pk, holder="other:1") is None


def test_f29_a_lease_that_could_not_be_given_back_is_kept_up_no_longer_than_its_turn_runs_here(ground, later, monkeypatch):
    left, running = (last_turn(ground.open()).pk for _ in range(2))
    for turn_id in (left, running):
        claims.claim_turn(turn_id, holder=claims.holder_name())
    monkeypatch.setitem(executors._running, running, object())
    for _ in range(2):
        later(9)
        engine.beat()

    assert claims.claim_turn(left, holder="other:1").taken_over
    assert claims.claim_turn(running, holder="other:1") is None


def test_p4_a_restarted_server_takes_its_slots_turns_at_once(ground):
    turn = last_turn(ground.open())
    claims.claim_turn(turn.pk, holder="embedded:old")
    claims.claim_turn(last_turn(ground.open()).pk, holder="worker:1")

    assert claims.expire_slot("embedded", but="embedded:new") == 1

    assert claims.claim_turn(turn.pk, holder="embedded:new")


@pytest.mark.parametrize(("vendor", "of_the_machine"), [("sqlite", False), ("postgresql", True)])
def test_servers_of_two_machines_on_one_database_do_not_end_each_others_leases(monkeypatch, vendor, of_the_machine):
    monkeypatch.setattr(engine, "connection", SimpleNamespace(vendor=vendor))
    names = set()
    for machine in ("apes-1", "apes-2"):
        monkeypatch.setattr(socket, "gethostname", lambda machine=machine: machine)
        names.add(engine._of_this_machine(claims.EMBEDDED_SLOT))

    assert names == ({"embedded-apes-1", "embedded-apes-2"} if of_the_machine else {"embedded"})


def test_e2_a_turn_that_kills_its_runner_three_times_is_parked(ground, later):
    turn = last_turn(ground.open())
    for _ in range(3):
        claims.claim_turn(turn.pk, holder="dies:1")
        later(11)

    loop.run_turn(turn.pk)

    turn.refresh_from_db()
    assert (turn.state, turn.reason) == (Turn.State.FAILED, "limit:crashes")


def test_f07_the_sweeper_wakes_a_turn_whose_last_call_was_settled_without_a_hint(ground):
    ground.assistant("stock", script=["42"])
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "x"}}]}, "ok"])
    thread = ground.open()
    commit_hooks()
    loop.run_turn(executors.rung.pop(0))
    turn = last_turn(thread)
    assert turn.state == Turn.State.WAITING
    ToolCall.objects.filter(turn=turn).update(state="settled", outcome="ok", result="42")
    commit_hooks()
    executors.rung.clear()

    sweep()
    run_all()

    assert replies(thread)[-1] == "ok"


def test_a_call_is_settled_only_once(ground):
    ground.assistant("stock", script=["42"])
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "x"}}]}, "ok"])
    thread = ground.open()
    commit_hooks()
    loop.run_turn(executors.rung.pop(0))
    call = last_turn(thread).calls.get()

    first = calls.settle_call(call, outcome="ok", value="one", by="x")
    second = calls.settle_call(call, outcome="ok", value="two", by="y")

    call.refresh_from_db()
    assert first and not second and call.result == "one"
    assert thread.messages.filter(role=Message.Role.TOOL).count() == 1


def test_f08_a_stop_reaches_the_whole_tree(ground):
    ground.assistant("leaf", script=[{"never": True}])
    ground.assistant(
        "mid",
        tools=["invoke_assistant"],
        script=[{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "leaf", "task": "y"}}]}],
    )
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "mid", "task": "x"}}]}])
    thread = ground.open()
    for _ in range(2):
        commit_hooks()
        loop.run_turn(executors.rung.pop(0))
    commit_hooks()
    assert Turn.objects.active().count() == 3

    lifecycle.stop_turn(last_turn(thread).pk, by="alice")
    commit_hooks()

    assert set(Turn.objects.values_list("state", flat=True)) == {Turn.State.STOPPED}
    assert not ToolCall.objects.filter(state="open").exists()


def test_report_t7_a_second_stop_is_harmless(ground):
    turn = last_turn(ground.open())

    assert lifecycle.stop_turn(turn.pk, by="alice")
    assert not lifecycle.stop_turn(turn.pk, by="alice")


def test_f08_the_sweeper_stops_children_of_an_ended_parent_and_delivers_forgotten_results(ground):
    ground.assistant("stock", script=["42"])
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "x"}}]}, "ok"])
    thread = ground.open()
    commit_hooks()
    loop.run_turn(executors.rung.pop(0))
    commit_hooks()
    child = Turn.objects.exclude(thread=thread).get()
    Turn.objects.filter(pk=child.pk).update(state="done")
    executors.rung.clear()

    sweep()
    run_all()

    assert not last_turn(thread).calls.get().is_open and last_turn(thread).state == Turn.State.DONE
