"""Many processes at once: nothing is sent, started, claimed or settled twice, and no event is skipped (P2, I4, I6, I9)."""

import threading

import pytest
from django.db import connection, transaction

from assistants import clock
from assistants.models import Message, Thread, ToolCall, Turn, TurnEvent
from assistants.turns import claims, events, executors, lifecycle
from assistants.turns.loop import run_turn
from assistants.turns.sweeper import sweep
from subchats.models import Delegation
from tests.kit.turns import last_turn, replies, run_all
from tests.postgres.together import at_once, failures, until_somebody_waits
from tests.subchats.fan_outs import fan_out, item, opened

pytestmark = pytest.mark.django_db(transaction=True)


def test_p2_fifty_parallel_resends_of_one_key_give_one_message_and_one_turn(ground):
    thread = ground.open("Hello")
    run_all()

    sent = at_once(
        *[lambda: lifecycle.send_message(thread, author=ground.alice, text="Again", client_key="k1") for _ in range(50)]
    )

    assert not failures(sent)
    assert len({each.message.pk for each in sent}) == 1 and len({each.turn.pk for each in sent}) == 1
    assert sum(not each.repeated for each in sent) == 1
    assert Message.objects.filter(client_key="k1").count() == 1
    assert executors.rung == [sent[0].turn.pk]


@pytest.mark.parametrize("who", ["alice", "visitor"])
def test_p2_fifty_parallel_openings_with_one_key_give_one_conversation(ground, who):
    mine = {"owner": ground.alice} if who == "alice" else {"owner": None, "visitor_key": "v" * 32}

    opened_threads = at_once(
        *[lambda: lifecycle.open_thread(ground.lead, text="Hello", client_key="k1", **mine) for _ in range(50)]
    )

    assert not failures(opened_threads)
    assert len({each.pk for each in opened_threads}) == 1
    assert (Thread.objects.count(), Message.objects.count(), Turn.objects.count()) == (1, 1, 1)


def test_i4_fifty_writers_on_one_thread_give_events_without_holes_in_the_order_of_their_commits(ground):
    thread = ground.open("Hello")
    seen: list[int] = []
    done = threading.Event()

    def write(number: int) -> None:
        for round_ in range(5):
            try:
                with transaction.atomic():
                    events.record(thread.pk, "log", writer=number)
                    if (number + round_) % 3 == 0:
                        raise KeyError("undone")
            except KeyError:
                continue

    def read() -> None:
        # A reader that remembers how far it has come must never be overtaken.
        while not done.is_set() or events.events_after(thread.pk, len(seen)):
            seen.extend(each.number for each in events.events_after(thread.pk, len(seen)))
        connection.close()

    reader = threading.Thread(target=read)
    reader.start()
    results = at_once(*[lambda number=number: write(number) for number in range(50)])
    done.set()
    reader.join(30)

    numbers = list(TurnEvent.objects.filter(thread=thread).order_by("number").values_list("number", flat=True))
    assert not failures(results)
    assert numbers == list(range(1, len(numbers) + 1)) == seen
    thread.refresh_from_db()
    assert thread.last_event == len(numbers)


def test_f16_of_twenty_runners_one_claims_the_turn(ground):
    turn = last_turn(ground.open("Hello"))

    found = at_once(*[lambda number=number: claims.claim_turn(turn.pk, holder=f"w{number}:1") for number in range(20)])

    taken = [each for each in found if each is not None]
    assert not failures(found) and len(taken) == 1
    turn.refresh_from_db()
    assert (turn.holder, turn.fence, turn.attempt) == (taken[0].holder, 1, 1)


def test_f16_a_turn_that_is_rung_five_times_asks_the_model_once(ground):
    thread = ground.open("Hello")
    turn = last_turn(thread)

    results = at_once(*[lambda: run_turn(turn.pk) for _ in range(5)])

    turn.refresh_from_db()
    assert not failures(results)
    assert (turn.state, turn.model_calls, replies(thread)) == ("done", 1, ["Hello from the lead."])


def test_a_heartbeat_and_a_child_that_reserves_from_its_root_stand_in_nobodys_way(ground, caplog):
    part = ground.assistant("part", script=["My part."])
    root = last_turn(opened(ground, fan_out(item(part.slug), item(part.slug, task="Another part"))))
    run_turn(root.pk)
    child = Turn.objects.filter(root=root).latest("pk")
    # One after the other, so that a look through the table comes to the root first.
    for each in (root, child):
        Turn.objects.filter(pk=each.pk).update(holder="w:1", lease_until=clock.now())
    child_is_locked = threading.Event()

    def reserve() -> None:
        with claims.locked(child.pk):
            child_is_locked.set()
            until_somebody_waits()
            with claims.locked(root.pk):
                pass

    def beat() -> int:
        child_is_locked.wait(30)
        return claims.renew("w:1")

    results = at_once(reserve, beat)

    assert not failures(results) and results[1] == 2
    assert not caplog.records


@pytest.mark.parametrize("round_", range(3))
def test_i9_siblings_that_settle_at_the_same_moment_wake_their_caller_once(ground, round_):
    part = ground.assistant("part", script={"rules": [{"when": {}, "reply": "My part."}]})
    tasks = [item(part.slug, task=f"Look at part {number}") for number in range(6)]
    thread = opened(ground, fan_out(*tasks))
    parent = last_turn(thread)
    run_turn(parent.pk)
    children = list(Turn.objects.filter(root=parent).values_list("pk", flat=True))
    executors.rung.clear()

    results = at_once(*[lambda child=child: run_turn(child) for child in children])

    call = ToolCall.objects.get(turn=parent)
    parent.refresh_from_db()
    assert not failures(results) and len(children) == 6
    assert (call.state, parent.state, parent.round) == ("settled", "thinking", 1)
    assert executors.rung.count(parent.pk) == 1
    assert Delegation.objects.filter(call=call, returned_at=None).count() == 0
    assert Message.objects.filter(turn=parent, role="tool").count() == 1
    run_all()
    assert replies(thread)[-1] == "Done."


@pytest.mark.parametrize("round_", range(3))
def test_i9_two_calls_that_are_settled_at_the_same_moment_leave_nobody_asleep(ground, round_):
    part = ground.assistant("part", script={"rules": [{"when": {}, "reply": "My part."}]})
    call = {"name": "invoke_assistant", "arguments": {"assistant": part.slug, "task": "Look"}}
    thread = opened(ground, {"calls": [call, call]})
    parent = last_turn(thread)
    run_turn(parent.pk)
    children = list(Turn.objects.filter(root=parent).values_list("pk", flat=True))
    executors.rung.clear()

    results = at_once(*[lambda child=child: run_turn(child) for child in children])

    parent.refresh_from_db()
    assert not failures(results) and len(children) == 2
    assert (parent.state, executors.rung.count(parent.pk)) == ("thinking", 1)


@pytest.mark.parametrize("round_", range(5))
def test_a_message_that_comes_while_the_turn_ends_is_neither_left_behind_nor_answered_twice(ground, round_):
    ground.script({"rules": [{"when": {}, "reply": "Answer to {{user}}"}]})
    thread = ground.open("First")
    turn = last_turn(thread)

    results = at_once(
        lambda: run_turn(turn.pk),
        *[lambda n=n: lifecycle.send_message(thread, author=ground.alice, text=f"Next {n}") for n in range(4)],
    )
    run_all()

    assert not failures(results)
    assert set(Turn.objects.values_list("state", flat=True)) == {"done"}
    assert sorted(replies(thread)) == ["Answer to First", *[f"Answer to Next {n}" for n in range(4)]]


def test_sweepers_and_senders_that_begin_turns_at_the_same_moment_begin_one(ground):
    ground.script({"rules": [{"when": {}, "reply": "Answer to {{user}}"}]})
    thread = ground.open("First")
    lifecycle.send_message(thread, author=ground.alice, text="Waits")
    # As a crash leaves it: the running turn is over, and nobody has begun the next one.
    Turn.objects.filter(state="thinking").update(state="done")
    Message.objects.filter(state="streaming").update(state="complete")

    results = at_once(
        *[sweep] * 3, *[lambda: lifecycle.send_message(thread, author=ground.alice, text="Comes in between") for _ in range(3)]
    )

    assert not failures(results)
    assert Turn.objects.active().filter(thread=thread).count() == 1
    run_all()
    assert set(Turn.objects.values_list("state", flat=True)) == {"done"}


def test_a_stop_and_a_report_at_the_same_moment_end_in_one_state(ground):
    for _ in range(4):
        thread = ground.open("Hello")
        turn = last_turn(thread)

        results = at_once(lambda turn=turn: run_turn(turn.pk), lambda turn=turn: lifecycle.stop_turn(turn.pk, by="Alice"))

        turn.refresh_from_db()
        assert not failures(results)
        assert turn.is_final and turn.lease_until is None
        assert Message.objects.filter(thread=thread, state="streaming").count() == 0
