"""F13: what a deadlock or a lost connection undid is begun anew, whole; and the pool heals without a restart."""

import threading

import psycopg
import pytest
from django.db import OperationalError, connection, connections, transaction

from assistants import failpoints
from assistants.models import Message, SpendEntry, Thread, ToolCall, Turn, TurnEvent
from assistants.turns import events, lifecycle
from assistants.turns.loop import run_turn
from assistants.turns.sweeper import sweep
from assistants.units import ATTEMPTS, unit
from subchats.delegation import delegate
from tests.kit.browsers import signed_in
from tests.kit.turns import last_turn, replies, run_all
from tests.postgres.together import at_once, cut_all_connections, failures, outside

pytestmark = pytest.mark.django_db(transaction=True)


def without_holes(thread: Thread) -> bool:
    numbers = list(TurnEvent.objects.filter(thread=thread).order_by("number").values_list("number", flat=True))
    thread.refresh_from_db()
    return numbers == list(range(1, thread.last_event + 1))


def test_f13_two_that_stand_in_each_others_way_are_both_done(ground):
    one, other = ground.open("One"), ground.open("Other")
    before = TurnEvent.objects.count()
    met, tries = threading.Barrier(2), []

    @unit
    def write(first: Thread, second: Thread) -> None:
        tries.append(first.pk)
        with transaction.atomic():
            events.record(first.pk, "log")
            if tries.count(first.pk) == 1:
                met.wait(10)
            events.record(second.pk, "log")

    results = at_once(lambda: write(one, other), lambda: write(other, one))

    assert not failures(results)
    assert len(tries) == 3 and TurnEvent.objects.count() == before + 4
    assert without_holes(one) and without_holes(other)


def test_f13_a_connection_that_is_cut_within_a_transaction_leaves_nothing_of_it_and_it_is_done_again(ground):
    thread = ground.open("Hello")
    before, tries = TurnEvent.objects.count(), []

    @unit
    def write() -> None:
        tries.append(1)
        with transaction.atomic():
            events.record(thread.pk, "log")
            if len(tries) == 1:
                cut_all_connections()
            events.record(thread.pk, "log")

    write()

    assert len(tries) == 2 and TurnEvent.objects.count() == before + 2 and without_holes(thread)


def test_f13_what_fails_again_and_again_fails_clearly_after_three_times(ground):
    thread = ground.open("Hello")
    before, tries = TurnEvent.objects.count(), []

    @unit
    def write() -> None:
        tries.append(1)
        with transaction.atomic():
            events.record(thread.pk, "log")
            cut_all_connections()
            events.record(thread.pk, "log")

    with pytest.raises(OperationalError):
        write()

    assert len(tries) == ATTEMPTS == 3 and TurnEvent.objects.count() == before


def test_f13_an_unanswered_commit_is_not_repeated_blindly(ground, monkeypatch):
    """Nobody knows whether it was done: repeated, it might be done twice."""
    tries = []
    kind = type(connections["default"])
    real = kind._commit

    def commit_unheard(self):
        real(self)
        cut_all_connections()
        self.cursor().execute("SELECT 1")

    @unit
    def write() -> None:
        tries.append(1)
        with transaction.atomic():
            Turn.objects.filter(pk=0).update(note="x")

    def _commit(self):
        return commit_unheard(self)

    monkeypatch.setattr(kind, "_commit", _commit)
    with pytest.raises(OperationalError):
        write()

    assert tries == [1]


def hand_over(ground):
    """A conversation whose lead hands one part down."""
    part = ground.assistant("part", script={"rules": [{"when": {}, "reply": "My part."}]})
    call = {"name": "invoke_assistant", "arguments": {"assistant": part.slug, "task": "Look"}}
    ground.script([{"calls": [call]}, "Done."])
    return ground.open("Go")


def carry_on() -> None:
    for _ in range(4):
        run_all()
        # A runner that could not even give its turn back: its lease has run out by now.
        Turn.objects.active().exclude(lease_until=None).update(lease_until="2000-01-01T00:00Z")
        sweep()
    run_all()


def test_f13_a_hand_over_whose_commit_is_not_answered_is_looked_for_and_not_told_as_failed(ground, monkeypatch):
    """Its child was there, and was stopped as one that nobody waits for, while the lead went on without it."""
    kind = type(connections["default"])
    real, lost = kind._commit, []

    def _commit(self):
        opened = not lost and Thread.objects.filter(parent__isnull=False).exists()
        real(self)
        if opened:
            lost.append(1)
            cut_all_connections()
            self.cursor().execute("SELECT 1")

    monkeypatch.setattr(kind, "_commit", _commit)
    thread = hand_over(ground)
    carry_on()

    assert lost and set(Turn.objects.values_list("state", flat=True)) == {Turn.State.DONE}
    assert Thread.objects.filter(parent=thread).count() == ToolCall.objects.count() == 1
    assert ToolCall.objects.get().outcome == ToolCall.Outcome.OK and replies(thread)[-1] == "Done."


def test_f13_a_hand_over_that_finds_no_database_is_made_when_there_is_one(ground, monkeypatch):
    tries, real = [], delegate._open_child

    def without_database(*args, **kwargs):
        tries.append(1)
        if len(tries) <= ATTEMPTS:
            cut_all_connections()
        return real(*args, **kwargs)

    monkeypatch.setattr(delegate, "_open_child", without_database)
    thread = hand_over(ground)
    carry_on()

    assert len(tries) == ATTEMPTS + 1 and set(Turn.objects.values_list("state", flat=True)) == {Turn.State.DONE}
    assert Thread.objects.filter(parent=thread).count() == 1 and ToolCall.objects.get().outcome == ToolCall.Outcome.OK


def test_f13_a_part_of_a_larger_unit_is_not_repeated_by_itself(ground):
    tries = []

    @unit
    def part() -> None:
        tries.append(1)
        cut_all_connections()
        Turn.objects.first()

    with pytest.raises(OperationalError), transaction.atomic():
        part()

    assert tries == [1]


@pytest.mark.parametrize("point", failpoints.POINTS)
def test_f13_a_database_that_restarts_at_any_point_of_a_turn_loses_and_doubles_nothing(ground, monkeypatch, point):
    monkeypatch.setitem(failpoints.ARMED, point, "cut")
    monkeypatch.setattr(failpoints, "_act", lambda name, action: cut_all_connections())
    monkeypatch.setattr(failpoints, "_passed", {})
    part = ground.assistant("part", script={"rules": [{"when": {}, "reply": "My part."}]})
    call = {"name": "invoke_assistant", "arguments": {"assistant": part.slug, "task": "Look"}}
    ground.script([{"calls": [{"name": "current_time", "arguments": {}}, call]}, "Done."])

    thread = send_until_it_is_stored(ground)
    carry_on()

    assert set(Turn.objects.values_list("state", flat=True)) == {"done"}
    assert replies(thread)[-1] == "Done." and Thread.objects.filter(parent=None).count() == 1
    assert Message.objects.filter(thread=thread, role="user").count() == 1
    assert set(ToolCall.objects.values_list("outcome", flat=True)) == {"ok"} and ToolCall.objects.count() == 2
    assert Thread.objects.filter(parent=thread.chat_id).count() == 1
    assert not SpendEntry.objects.filter(settled=None).exists()
    assert all(without_holes(each) for each in Thread.objects.all())


def send_until_it_is_stored(ground) -> Thread:
    """As a page does: the same key, until there is an answer."""
    for _ in range(4):
        try:
            return lifecycle.open_thread(ground.lead, owner=ground.alice, text="Hello", client_key="k1")
        except OperationalError:
            connection.close()
    raise AssertionError("the message was never stored")


def test_f13_pages_and_turns_go_on_after_a_restart_without_one_of_their_own(ground):
    thread = ground.open("Hello")
    browser = signed_in(ground.alice)
    assert browser.get(f"/c/{thread.chat_id}/").status_code == 200
    connection.close()
    warm_up = at_once(*[lambda: Thread.objects.count() for _ in range(8)])

    cut = cut_all_connections()

    assert not failures(warm_up) and cut >= 1
    assert not failures(at_once(*[lambda: Thread.objects.count() for _ in range(8)]))
    assert browser.get(f"/c/{thread.chat_id}/").status_code == 200
    run_turn(last_turn(thread).pk)
    assert replies(thread) == ["Hello from the lead."]


def test_f13_however_many_connections_were_cut_the_first_who_asks_does_not_wait_for_each(ground, monkeypatch):
    thread, pool = ground.open("Hello"), connection.pool
    # The pool's workers wait for tasks; nobody else is to sleep.
    monkeypatch.setattr("psycopg_pool.pool.sleep", lambda seconds: pytest.fail(f"slept for {seconds} s"))
    idle = [pool.getconn() for _ in range(8)]
    for each in idle:
        pool.putconn(each)
    connection.close()

    cut = cut_all_connections()

    assert cut >= 8
    thread.refresh_from_db()
    assert at_once(*[lambda: Thread.objects.count() for _ in range(8)]) == [1] * 8


def test_a_row_that_is_locked_for_long_is_waited_for_and_then_told_of(ground):
    """F12's likeness: a clear sentence, and nothing half-written."""
    thread = ground.open("Hello")
    run_all()
    browser = signed_in(ground.alice)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '300ms'")
    with outside() as other, other.transaction():
        other.execute("SELECT 1 FROM assistants_thread WHERE id = %s FOR UPDATE", [thread.pk])

        answer = browser.post(
            f"/c/{thread.chat_id}/send/", {"text": "Now", "key": "k9"}, headers={"Accept": "application/json"}
        )

    assert answer.status_code == 503 and answer.json()["code"] == "BUSY"
    assert not Message.objects.filter(client_key="k9").exists()


def test_a_pool_whose_connections_are_all_taken_lets_wait_and_then_says_so(ground, settings):
    pool = connection.pool
    kept = [pool.getconn() for _ in range(pool.max_size - 1)]
    timeout, pool.timeout = pool.timeout, 0.3
    try:
        with pytest.raises(OperationalError, match="couldn't get a connection"):
            taken = at_once(lambda: Thread.objects.count())
            raise taken[0]
    finally:
        pool.timeout = timeout
        for each in kept:
            pool.putconn(each)
    assert at_once(lambda: Thread.objects.count()) == [0]
    assert issubclass(psycopg.OperationalError, psycopg.Error)
