"""Sub-chats that fall silent or work for too long are cut off, with what they have (J-18, J-19, section 8)."""

import json
from concurrent.futures import Future
from datetime import timedelta

import pytest
from django.test import Client

from assistants import clock
from assistants.conversations.overview import facts_of
from assistants.conversations.present import present_of
from assistants.conversations.timeline import timeline_of
from assistants.models import Message, SpendEntry, Thread, ToolCall, Turn
from assistants.turns import claims, executors, live, partial, think, watchdog
from assistants.turns.claims import Claim, claim_turn
from assistants.turns.loop import run_turn
from assistants.turns.sweeper import sweep
from subchats.cards import card_context
from tests.kit.meanwhile import run_and
from tests.kit.turns import commit_hooks, last_turn, replies, run_all

ASKS = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}
TOOL = {"calls": [{"name": "current_time"}]}


class Clock:
    """The present moment, moved on by a test and by nothing else."""

    def __init__(self, now) -> None:
        self.at = now

    def move(self, seconds: float, *, alive: bool = True) -> None:
        """Lets so many seconds pass; the process that runs turns beats meanwhile, unless it is not alive."""
        self.at += timedelta(seconds=seconds)
        if alive:
            claims.renew("test:1")
            claims.renew(claims.holder_name())


@pytest.fixture
def time(monkeypatch) -> Clock:
    moving = Clock(clock.now())
    monkeypatch.setattr(clock, "now", lambda: moving.at)
    return moving


def begin(ground, *script: object, tools: list[str] | None = None, **fields: object) -> tuple[Thread, Turn]:
    """A conversation whose lead waits for its sub-chat, and the sub-chat's turn, which nobody runs yet."""
    ground.assistant("stock", tools=tools, script=list(script) or ["42"], **fields)
    ground.script([ASKS, "We go on without it."])
    thread = ground.open()
    commit_hooks()
    run_turn(executors.rung.pop(0))
    commit_hooks()
    executors.rung.clear()
    return thread, last_turn(thread.children.get())


def report_of(thread: Thread) -> dict[str, object]:
    return json.loads(last_turn(thread).calls.first().result)


def stall(child: Turn, text: str = "") -> None:
    """A runner that asked the model, wrote down what it said so far, and then fell silent for ever."""
    claim = claim_turn(child.pk, holder="test:1")
    _, message, _ = think._open_reply(claim)
    growing = live.LiveReply(child.thread_id, child.thread.root_id_or_own, message.pk, message.sequence)
    growing.on_text(text)

    save(claim, growing)


def save(claim: Claim, growing: live.LiveReply, *, more: str = "") -> None:
    """What the runner does once a second while a reply grows."""
    growth = partial.begin(claim, growing, Future())
    growing.on_text(more)
    partial.save(older_than=0)
    partial.end(growth)


FORTY = " ".join(f"word{number}" for number in range(40))


def test_j18_a_child_that_stalls_is_cut_off_and_its_text_goes_up_as_incomplete(ground, time) -> None:
    """Journey 6."""
    thread, child = begin(ground)
    stall(child, FORTY)
    time.move(61)

    sweep()
    run_all()

    report = report_of(thread)
    assert report["success"] is False and report["reply"] == FORTY
    assert report["error"].startswith("[IDLE_TIMEOUT] ") and "likely incomplete" in report["error"]
    child.refresh_from_db()
    assert (child.state, child.reason) == (Turn.State.FAILED, "limit:idle")
    assert replies(thread)[-1] == "We go on without it."


def test_j18_it_is_left_alone_until_its_time_is_up(ground, time) -> None:
    _, child = begin(ground)
    stall(child, FORTY)
    time.move(59)

    assert watchdog.watch() == 0

    child.refresh_from_db()
    assert child.is_active


def test_j18_every_delta_is_a_sign_of_life(ground, time) -> None:
    _, child = begin(ground)
    stall(child)
    time.move(50)
    message = Message.objects.get(turn=child, role="assistant")
    growing = live.LiveReply(child.thread_id, child.thread.root_id_or_own, message.pk, message.sequence)
    child.refresh_from_db()
    save(Claim(child.pk, child.fence, "test:1", False), growing, more="more")
    time.move(50)

    assert watchdog.watch() == 0
    time.move(11)
    assert watchdog.watch() == 1


def test_j18_a_running_model_call_is_cancelled_at_once(ground, time) -> None:
    ground.assistant("stock", script=[{"text": "Word " * 400, "delay_ms": 10}], idle_seconds=5)
    ground.script([ASKS, "We go on without it."])
    thread = ground.open()

    def silence() -> int:
        time.move(30)
        return watchdog.watch()

    assert run_and(silence, chars=20) == 1

    report = report_of(thread)
    assert report["error"].startswith("[IDLE_TIMEOUT]") and report["reply"].startswith("Word Word")


def test_j18_a_dead_process_is_caught_too(ground, time) -> None:
    """Its turn is taken over: what its runner did not say is not the child's silence."""
    thread, child = begin(ground)
    stall(child, FORTY)
    time.move(61, alive=False)

    sweep()
    run_all()

    assert report_of(thread)["success"] is True and report_of(thread)["reply"] == "42"
    assert not SpendEntry.objects.filter(settled=None).exists()


@pytest.mark.parametrize("end", ["killed", "given back"])
def test_a_night_in_which_the_site_was_down_is_neither_silence_nor_work(ground, time, end) -> None:
    _, child = begin(ground)
    stall(child, FORTY)
    child.refresh_from_db()
    if end == "given back":
        claims.release(Claim(child.pk, child.fence, "test:1", False))
    time.move(8 * 3600, alive=False)

    assert watchdog.watch() == 0
    claims.expire_slot("test", but="test:2")
    assert claim_turn(child.pk, holder="test:2")
    assert watchdog.watch() == 0

    child.refresh_from_db()
    assert watchdog.work_seconds(child, clock.now()) < 60


def test_after_such_a_night_a_new_runner_has_as_long_as_any(ground, time) -> None:
    thread, child = begin(ground)
    stall(child)
    time.move(8 * 3600, alive=False)
    assert claim_turn(child.pk, holder="test:1")

    time.move(59)
    assert watchdog.watch() == 0
    time.move(2)
    assert watchdog.watch() == 1

    assert report_of(thread)["error"].startswith("[IDLE_TIMEOUT]")


def test_a_caller_did_not_work_while_its_child_had_no_runner(ground, time) -> None:
    lead = ground.assistant("middle", tools=["invoke_assistant"], script=[ASKS, "Done."])
    ground.assistant("stock", script=["42"])
    lead.delegates.add(lead.tenant.assistants.get(slug="stock"))
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "middle", "task": "Count"}}]}, "End."])
    thread = ground.open()
    for _ in range(2):
        commit_hooks()
        run_turn(executors.rung.pop(0))
    commit_hooks()
    middle = last_turn(thread.children.get())
    below = last_turn(middle.thread.children.get())
    stall(below)
    time.move(8 * 3600, alive=False)

    assert claim_turn(below.pk, holder="test:1")

    middle.refresh_from_db()
    assert watchdog.work_seconds(middle, clock.now()) < 60 and watchdog.watch() == 0


def test_a_tool_may_be_silent_for_as_long_as_it_was_declared_to_take(ground, time, settings) -> None:
    settings.TASKMONKEY = {**settings.TASKMONKEY, "TOOL_SECONDS": 90}
    _, child = begin(ground, TOOL, "42", tools=["current_time"], idle_seconds=10)
    claim = claim_turn(child.pk, holder="test:1")
    think.think(claim)
    ToolCall.objects.filter(turn=child).update(started=clock.now(), attempts=1)

    time.move(80)
    assert watchdog.watch() == 0
    time.move(40)
    assert watchdog.watch() == 1


def test_a_parent_that_waits_for_its_children_is_not_idle(ground, time) -> None:
    ground.assistant("clerk", script=["42"])
    deeper = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "clerk", "task": "Count"}}]}
    _, child = begin(ground, deeper, "42", tools=["invoke_assistant"])
    run_turn(child.pk)
    child.refresh_from_db()
    assert child.state == Turn.State.WAITING
    time.move(300)

    watchdog.watch()

    child.refresh_from_db()
    assert child.state == Turn.State.WAITING


def test_a_persons_silence_is_never_a_time_out(ground, time) -> None:
    asks = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}]}
    thread, child = begin(ground, asks, "42", tools=["ask_clarifying_question"])
    run_turn(child.pk)
    time.move(7 * 24 * 3600)

    sweep()

    assert last_turn(thread).state == Turn.State.WAITING
    assert last_turn(thread).calls.get().is_open


def test_an_approval_that_nobody_gives_is_no_time_out(ground, time) -> None:
    _, child = begin(ground, TOOL, "42", tools=["current_time"], approve_tools=["current_time"])
    run_turn(child.pk)
    child.refresh_from_db()
    assert child.state == Turn.State.WAITING
    time.move(24 * 3600)

    assert watchdog.watch() == 0
    assert watchdog.work_seconds(child, clock.now()) < 5


def test_the_hard_wall_ends_a_child_that_never_stops_working(ground, time) -> None:
    thread, child = begin(ground, wall_seconds=600)
    stall(child, FORTY)
    for _ in range(11):
        time.move(59)
        Turn.objects.filter(pk=child.pk).update(beat=clock.now())
        watchdog.watch()
    run_all()

    child.refresh_from_db()
    assert child.reason == "limit:wall"
    report = report_of(thread)
    assert report["error"].startswith("[WALL_TIMEOUT]") and report["success"] is False and report["reply"] == FORTY


def test_a_conversation_of_ones_own_is_not_watched(ground, time) -> None:
    thread = ground.open()
    claim_turn(last_turn(thread).pk, holder="test:1")
    time.move(3600)

    assert watchdog.watch() == 0


def test_an_assistants_own_times_count(ground, time) -> None:
    _, child = begin(ground, idle_seconds=5, wall_seconds=7)

    assert watchdog.limits_of(child) == (5, 7)


def test_a_child_in_the_queue_is_not_silent(ground, time) -> None:
    _, child = begin(ground)
    time.move(3600)

    assert watchdog.watch() == 0
    child.refresh_from_db()
    assert child.started is None


def test_j18_a_cut_off_child_can_be_opened_continued_and_run_again(ground, time) -> None:
    thread, child = begin(ground, "42", "43")
    stall(child, FORTY)
    time.move(61)
    watchdog.watch()
    run_all()
    client = Client()
    client.force_login(ground.alice)

    page = client.get(f"/c/{thread.chat_id}/").content.decode()
    inside = client.get(f"/c/{child.thread.chat_id}/").content.decode()
    state = card_context(last_turn(thread).calls.first())["state"]
    client.post(f"/c/{child.thread.chat_id}/run-again/")
    run_all()

    assert state == "cut_off"
    assert 'data-state="cut_off"' in page and "cut off" in page
    assert FORTY in inside
    assert last_turn(child.thread).state == Turn.State.DONE and last_turn(child.thread).root_id is None
    assert len(last_turn(thread).calls.all()) == 1


def test_a_late_runner_changes_nothing_after_the_cut(ground, time) -> None:
    _, child = begin(ground)
    claim = claim_turn(child.pk, holder="test:1")
    time.move(61)
    watchdog.watch()

    with pytest.raises(Exception, match="no longer held"):
        think.think(claim)


def test_the_list_and_the_timeline_say_that_a_child_was_cut_off(ground, time) -> None:
    thread, child = begin(ground)
    stall(child, FORTY)
    time.move(61)
    watchdog.watch()
    run_all()

    facts = facts_of([child.thread], own={thread.pk})
    rows = timeline_of(present_of(thread)).rows

    assert facts.outcomes == {child.thread_id: "cut_off"}
    assert [row.state for row in rows] == ["done", "cut_off"]
