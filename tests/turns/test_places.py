"""Who gets a free place when more turns wait than a process can run, and how a process gives its turns back (F11, F16)."""

import threading
import time
from datetime import timedelta

import pytest
from django.core.management import call_command

from assistants import clock
from assistants.models import Turn
from assistants.rendering.fragments import draw_state, viewpoint
from assistants.turns import backlog, claims, engine, executors, loop
from tests.kit import world
from tests.kit.turns import commit_hooks, last_turn, replies, run_all
from tests.kit.waiting import until


@pytest.fixture
def places(settings, monkeypatch):
    """An executor of two places, of the test's own; gives what ran, in order, and a gate that lets runs end."""
    settings.TASKMONKEY = {**settings.TASKMONKEY, "EXECUTOR": "inprocess", "TURN_THREADS": 2}
    for name, value in (("_pool", None), ("_running", {}), ("_again", set()), ("_crowded", False), ("_streams", {})):
        monkeypatch.setattr(executors, name, value)
    monkeypatch.setattr(executors, "_closing", threading.Event())
    ran, gate = [], threading.Semaphore(0)

    def run(turn_id):
        ran.append(turn_id)
        assert gate.acquire(timeout=60)

    waiting = []
    monkeypatch.setattr(executors, "_runner", run)
    monkeypatch.setattr(executors, "_picker", lambda but: next((each for each in waiting if each not in (*but, *ran)), None))
    yield ran, gate, waiting
    for _ in range(50):
        gate.release()
    until(lambda: not executors.running())
    executors._pool.shutdown(wait=True)


def test_no_more_turns_run_than_there_are_places_and_a_free_one_is_given_on(places):
    ran, gate, waiting = places
    waiting.extend(range(1, 6))

    for turn_id in waiting:
        executors.take_up(turn_id)
    until(lambda: len(ran) == 2)
    time.sleep(0.05)

    # Two threads begin at once, and either may be the first to say so.
    assert sorted(ran) == [1, 2] and executors.running() == [1, 2]
    gate.release()
    until(lambda: len(ran) == 3)
    assert ran[2] == 3


def test_f16_a_bell_that_rings_five_times_runs_a_turn_once_and_looks_once_more(places):
    ran, gate, _ = places

    for _ in range(5):
        executors.take_up(7)
    until(lambda: len(ran) == 1)
    gate.release()
    until(lambda: len(ran) == 2)
    gate.release()
    until(lambda: not executors.running())

    assert ran == [7, 7]


def test_f11_a_process_that_ends_takes_nothing_up_and_waits_for_what_runs(places):
    ran, gate, _ = places
    executors.take_up(1)
    until(lambda: ran == [1])

    ending = threading.Thread(target=executors.drain, args=(10,), kwargs={"rest": time.sleep})
    ending.start()
    until(executors.is_closing)
    executors.take_up(2)
    assert ending.is_alive()
    gate.release()
    ending.join(60)

    assert not ending.is_alive() and ran == [1]


def test_f11_a_turn_is_given_back_between_two_steps_without_a_crash_being_counted(ground, monkeypatch):
    ground.script([{"calls": [{"name": "current_time", "arguments": {}}]}, "It is late."])
    thread = ground.open("What time is it?")
    turn = last_turn(thread)
    commit_hooks()
    think = loop.STEPS[Turn.State.THINKING]
    closing = threading.Event()
    monkeypatch.setattr(executors, "_closing", closing)
    monkeypatch.setitem(loop.STEPS, Turn.State.THINKING, lambda claim: (think(claim), closing.set()))

    loop.run_turn(turn.pk)

    turn.refresh_from_db()
    assert (turn.state, turn.lease_until, turn.crashes) == (Turn.State.ACTING, None, 0)
    assert turn.pk in executors.rung
    closing.clear()
    monkeypatch.setitem(loop.STEPS, Turn.State.THINKING, think)
    run_all()
    turn.refresh_from_db()
    assert (turn.state, turn.attempt, replies(thread)[-1]) == (Turn.State.DONE, 1, "It is late.")


def test_one_tenants_two_hundred_turns_do_not_hold_up_anothers_first(ground):
    bear = ground.assistant("grizzly", tenant=ground.bears, profile=world.scripted_profile(ground.bears, "grizzly", ["Grr."]))
    crowd = [last_turn(ground.open(f"Question {number}")) for number in range(200)]
    for turn in crowd[:3]:
        claims.claim_turn(turn.pk, holder="a:1")
    late = last_turn(ground.open("Hello", owner=ground.charlie, assistant=bear))

    first = loop.next_turn([])
    second = loop.next_turn([first])

    assert first == late.pk
    assert second == crowd[3].pk


def test_whoever_waits_for_a_place_is_told_how_many_are_before(ground, monkeypatch):
    crowd = [ground.open(f"Question {number}") for number in range(4)]
    claims.claim_turn(last_turn(crowd[0]).pk, holder="a:1")
    view = viewpoint(crowd[3], ground.alice)
    assert "free place" not in draw_state(view)
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(seconds=backlog.UNNOTICED_SECONDS))

    told = backlog.tell_waiting()

    assert told == 3
    assert "waits for a free place, 2 before it" in draw_state(view)
    assert "free place" not in draw_state(viewpoint(crowd[0], ground.alice))
    claims.claim_turn(last_turn(crowd[3]).pk, holder="a:1")
    assert "free place" not in draw_state(view)


def test_the_processes_that_run_turns_are_named_with_their_places(ground, monkeypatch, capsys):
    engine.beat()
    ground.open("Hello")

    call_command("workers")
    told = capsys.readouterr().out

    assert claims.holder_name() in told and "1 alive" in told
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(seconds=11))
    with pytest.raises(SystemExit):
        call_command("workers")


def test_of_one_tenant_the_oldest_goes_first(ground):
    turns = [last_turn(ground.open(f"Question {number}")) for number in range(3)]

    assert loop.next_turn([]) == turns[0].pk
    assert loop.next_turn([turns[0].pk]) == turns[1].pk
    for turn in turns:
        claims.claim_turn(turn.pk, holder="a:1")
    assert loop.next_turn([]) is None
