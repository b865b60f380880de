"""A person writes into a sub-chat that its caller waits for, or into a lead that waits for its sub-chats."""

import json

from assistants.llm import scripted
from assistants.models import Message, Thread, Turn
from assistants.turns import lifecycle, questions, queue
from subchats.models import Delegation
from tests.kit.meanwhile import run_and
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.words import said, shown

SLOW = {"text": "word " * 60, "delta_chars": 5, "delay_ms": 5}
LOOK = {"calls": [{"name": "current_time", "arguments": {}}]}
DELEGATE = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}


def put(ground, thread, text, how):
    return questions.send_or_answer(thread, author=ground.alice, text=text, client_key=text, joins=how)


def child_of(thread):
    return Thread.objects.get(parent=thread)


def reports(thread):
    """What the lead was told by its sub-chats, each as (success, reply)."""
    calls = [call for turn in thread.turns.all() for call in turn.calls.exclude(result="")]
    return [(value["success"], value["reply"]) for value in (json.loads(call.result) for call in calls)]


def script_of(ground, slug, script):
    """What this assistant's model does from now on."""
    scripted.register(f"{ground.apes.slug}-{slug}", script)


def delegating(ground, *steps, **fields):
    """A conversation whose lead hands one task to stock, which takes these steps."""
    ground.assistant("stock", tools=["current_time"], script=list(steps), **fields)
    ground.script([DELEGATE, "All told."])
    return ground.open("How many?")


def test_report_d16_a_sub_chat_is_nudged_in_its_place_and_its_caller_gets_one_report(ground):
    thread = delegating(ground, {**SLOW, **LOOK}, "Forty-two, boxes too.")

    run_and(lambda: put(ground, child_of(thread), "Count the boxes too", "steer"), chars=20)

    child = child_of(thread)
    assert shown(child) == ["Count", SLOW["text"], "Count the boxes too", "Forty-two, boxes too."]
    assert reports(thread) == [(True, "Forty-two, boxes too.")] and child.turns.count() == 1
    assert replies(thread)[-1] == "All told." and Delegation.objects.get().returned_at


def test_a_message_during_the_last_reply_of_a_sub_chat_is_still_in_its_one_report(ground):
    thread = delegating(ground, SLOW, "Forty-two, boxes too.")

    run_and(lambda: put(ground, child_of(thread), "Count the boxes too", "steer"), chars=20)

    assert reports(thread) == [(True, "Forty-two, boxes too.")] and child_of(thread).turns.count() == 1


def test_a_queued_message_of_a_sub_chat_waits_until_the_report_was_given(ground):
    thread = delegating(ground, SLOW, "Twelve boxes.")

    run_and(lambda: put(ground, child_of(thread), "And the boxes?", ""), chars=20)

    assert reports(thread) == [(True, SLOW["text"])]
    assert shown(child_of(thread))[2:] == ["And the boxes?", "Twelve boxes."] and child_of(thread).turns.count() == 2


def test_an_interrupted_sub_chat_goes_on_in_the_same_delegation_and_reports_once(ground):
    thread = delegating(ground)
    script_of(ground, "stock", {"rules": [{"when": {"user": "Boxes"}, "reply": "Twelve boxes."}, {"when": {}, "reply": SLOW}]})

    run_and(lambda: put(ground, child_of(thread), "Boxes, not pieces", "interrupt"), chars=20)

    child = child_of(thread)
    assert [turn.state for turn in child.turns.all()] == ["done"] and reports(thread) == [(True, "Twelve boxes.")]
    assert child.messages.get(state=Message.State.INTERRUPTED).text
    assert replies(thread) == ["", "All told."]


def test_sending_a_queued_message_now_does_not_end_a_sub_chat_that_its_caller_waits_for(ground):
    thread = delegating(ground)
    script_of(ground, "stock", {"rules": [{"when": {"user": "Boxes"}, "reply": "Twelve boxes."}, {"when": {}, "reply": SLOW}]})

    def queue_and_send_now():
        sent = put(ground, child_of(thread), "Boxes, not pieces", "")
        queue.send_now(sent.turn, by=ground.alice, name="Alice")

    run_and(queue_and_send_now, chars=20)

    assert reports(thread) == [(True, "Twelve boxes.")] and child_of(thread).turns.get().state == Turn.State.DONE


def test_report_d13_d14_an_interrupted_lead_gets_the_partial_reports_of_what_it_waited_for(ground):
    thread = delegating(ground, SLOW)

    run_and(lambda: put(ground, thread, "That is enough", "interrupt"), chars=20)

    child, turn = child_of(thread), thread.turns.get()
    result = json.loads(turn.calls.get().result)
    assert child.turns.get().state == Turn.State.STOPPED and Delegation.objects.get().returned_at
    assert result["reply"].startswith("word") and "STOPPED" in result["error"] and "incomplete" in result["error"]
    assert shown(thread)[2:] == ["That is enough", "All told."] and turn.state == Turn.State.DONE


def test_report_d9_d13_d19_what_is_said_to_the_lead_leaves_its_sub_chat_at_work_and_stays_out_of_it(ground):
    thread = delegating(ground, SLOW)

    run_and(lambda: put(ground, thread, "Mind the gap", "steer"), chars=20)

    child = child_of(thread)
    assert child.turns.get().state == Turn.State.DONE and shown(child) == ["Count", SLOW["text"]]
    assert shown(thread) == ["How many?", "", "Mind the gap", "All told."] and thread.turns.count() == 1


def test_report_d33_an_interrupted_middle_takes_what_works_below_it_along(ground):
    ground.assistant("middle", tools=["invoke_assistant"], script=[DELEGATE, "Middle done."])
    ground.assistant("stock", script=[SLOW])
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "middle", "task": "Ask"}}]}, "All told."])
    thread = ground.open("How many?")

    def interrupt_the_middle():
        put(ground, child_of(thread), "Leave the stock alone", "interrupt")

    run_and(interrupt_the_middle, chars=20)

    middle = child_of(thread)
    assert child_of(middle).turns.get().state == Turn.State.STOPPED
    assert reports(thread) == [(True, "Middle done.")] and last_turn(thread).state == Turn.State.DONE
    assert said(middle, "Leave the stock alone").turn == middle.turns.get()


def test_report_t3_a_stop_of_the_lead_ends_the_sub_chat_and_what_was_meant_for_it_waits_for_no_one(ground):
    thread = delegating(ground, SLOW, "Later then.")

    def steer_then_stop():
        put(ground, child_of(thread), "Count the boxes too", "steer")
        lifecycle.stop_turn(thread.turns.active().get().pk, by="Alice")

    run_and(steer_then_stop, chars=20)
    run_all()

    assert not Turn.objects.active().exists() and not Turn.objects.filter(state=Turn.State.QUEUED).exists()
    assert [turn.state for turn in child_of(thread).turns.order_by("pk")] == ["stopped", "done"]
    assert thread.turns.get().state == Turn.State.STOPPED and thread.turns.get().calls.get().outcome == "stopped"
