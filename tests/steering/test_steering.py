"""A message into a running turn: it waits, is read at the next step, or interrupts what runs (issue: steering)."""

import pytest

from assistants.errors import CodedError
from assistants.llm import scripted
from assistants.models import Message, Turn
from assistants.turns import lifecycle, questions, queue, steering, sweeper
from tests.kit.browsers import HTMX, PROGRAM, signed_in
from tests.kit.meanwhile import run_and
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.words import shown, url

SLOW = {"text": "word " * 60, "delta_chars": 5, "delay_ms": 5}
LOOK = {"calls": [{"name": "current_time", "arguments": {}}]}


def put(ground, thread, text, how, **more):
    return questions.send_or_answer(thread, author=ground.alice, text=text, client_key=text, joins=how, **more)


def asked_of(assistant):
    """What the assistant's model was asked, one list of (kind, text) for each request."""
    return [
        [(part.part_kind, str(getattr(part, "content", ""))) for message in request.messages for part in message.parts]
        for request in scripted.requests(assistant.profile.model)
    ]


def test_a_steering_message_is_read_behind_the_results_at_the_next_step_of_the_same_turn(ground):
    ground.script([{**SLOW, **LOOK}, "Both done."])
    thread = ground.open("First task")

    run_and(lambda: put(ground, thread, "And mind the gap", "steer"), chars=20)

    turn = thread.turns.get()
    first, second = turn.messages.filter(role="assistant").order_by("round")
    message = thread.messages.get(client_key="And mind the gap")
    assert turn.state == Turn.State.DONE and shown(thread) == ["First task", SLOW["text"], "And mind the gap", "Both done."]
    assert (message.parent, message.turn, message.state, second.parent) == (first, turn, Message.State.COMPLETE, message)
    kinds = [kind for kind, _ in asked_of(ground.lead)[1]]
    assert kinds[-2:] == ["tool-return", "user-prompt"] and asked_of(ground.lead)[1][-1][1] == "And mind the gap"


def test_while_it_waits_nobody_has_read_it_and_it_can_be_taken_back(ground):
    ground.script([{**SLOW, **LOOK}, "Done."])
    thread = ground.open("First task")

    def put_and_take_back():
        sent = put(ground, thread, "Never mind", "steer")
        assert sent.message.state == Message.State.QUEUED and sent.turn.joins == "steer"
        return queue.unqueue(sent.turn)

    assert run_and(put_and_take_back, chars=20) == "Never mind"
    assert shown(thread) == ["First task", SLOW["text"], "Done."] and thread.turns.count() == 1


def test_several_are_read_in_the_order_in_which_they_were_written(ground):
    ground.script([{**SLOW, **LOOK}, "Done."])
    thread = ground.open("First task")

    run_and(lambda: [put(ground, thread, text, "steer") for text in ("One more", "And another")], chars=20)

    assert shown(thread)[2:] == ["One more", "And another", "Done."]


def test_a_message_that_waits_in_the_queue_is_turned_into_a_steering_one(ground):
    ground.script([{**SLOW, **LOOK}, "Done."])
    thread = ground.open("First task")
    browser = signed_in(ground.alice, **HTMX)

    def queue_and_steer():
        put(ground, thread, "Behind", "")
        put(ground, thread, "Now please", "")
        return browser.post(url("steer", last_turn(thread))).status_code

    assert run_and(queue_and_steer, chars=20) == 204
    assert shown(thread)[2:5] == ["Now please", "Done.", "Behind"]


def test_what_is_not_waiting_can_not_be_steered(ground):
    thread = ground.open("First task")
    run_all()

    with pytest.raises(CodedError) as caught:
        steering.steer(last_turn(thread))

    assert caught.value.code == "NOT_QUEUED"


def test_report_s14_a_turn_that_ends_before_its_next_step_leaves_the_message_to_a_turn_of_its_own(ground):
    ground.script([SLOW, "Second answer.", "Third answer."])
    thread = ground.open("First task")

    def put_both():
        put(ground, thread, "Behind", "")
        put(ground, thread, "Sooner", "steer")

    run_and(put_both, chars=20)

    assert shown(thread) == ["First task", SLOW["text"], "Sooner", "Second answer.", "Behind", "Third answer."]
    assert [turn.joins for turn in thread.turns.all()] == ["", "", ""]


def test_sending_a_steering_message_twice_stores_and_reads_it_once(ground):
    ground.script([{**SLOW, **LOOK}, "Done."])
    thread = ground.open("First task")
    browser = signed_in(ground.alice, **PROGRAM)

    def post():
        return browser.post(url("send_message", thread), {"text": "Mind the gap", "key": "k1", "how": "steer"}).json()

    first = run_and(lambda: [post(), post()], chars=20)
    later = post()

    assert first[0]["message"] == first[1]["message"] == later["message"] and later["turn"] == thread.turns.get().pk
    assert shown(thread).count("Mind the gap") == 1


@pytest.mark.parametrize("how", ["queue", "steer", "interrupt", ""])
def test_where_nothing_runs_every_way_just_sends(ground, how):
    ground.script(["One.", "Two."])
    thread = ground.open("First task")
    run_all()

    answer = signed_in(ground.alice, **HTMX).post(url("send_message", thread), {"text": "Second", "key": "k", "how": how})
    run_all()

    assert answer.status_code == 204 and shown(thread) == ["First task", "One.", "Second", "Two."]


def test_an_unknown_way_is_refused_and_nothing_is_stored(ground):
    thread = ground.open("First task")

    answer = signed_in(ground.alice).post(url("send_message", thread), {"text": "Second", "how": "shout"})

    assert answer.status_code == 400 and answer.json()["field"] == "how" and thread.messages.filter(role="user").count() == 1


def test_an_interrupt_keeps_the_text_and_goes_on_at_once_in_the_same_turn(ground):
    ground.script({"rules": [{"when": {"user": "Rather this"}, "reply": "This then."}, {"when": {}, "reply": SLOW}]})
    thread = ground.open("First task")

    run_and(lambda: put(ground, thread, "Rather this", "interrupt"), chars=20)

    turn = thread.turns.get()
    cut, last = turn.messages.filter(role="assistant").order_by("round")
    assert cut.state == Message.State.INTERRUPTED and 20 <= len(cut.text) < len(SLOW["text"])
    assert shown(thread) == ["First task", cut.text, "Rather this", "This then."]
    assert turn.state == Turn.State.DONE and last.text == "This then." and turn.note == ""


def test_an_interrupt_settles_the_open_calls_and_says_what_is_known_of_them(ground):
    calls = [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]
    ground.assistant("stock", tools=["ask_clarifying_question"], may_ask=True, script=[
        {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}]}
    ])  # fmt: skip
    ground.script([{"calls": calls}, "Without the count then."])
    thread = ground.open("How many?")
    run_all()

    put(ground, thread, "Forget the count", "interrupt")
    run_all()

    call = thread.turns.get().calls.get()
    assert (call.outcome, call.code) == ("stopped", "INTERRUPTED") and "alice" in call.result.lower()
    assert replies(thread)[-1] == "Without the count then."


def test_an_interrupt_left_behind_by_a_crash_is_carried_out_by_the_sweeper(ground):
    ground.script({"rules": [{"when": {"user": "Rather this"}, "reply": "This then."}, {"when": {}, "reply": SLOW}]})
    thread = ground.open("First task")

    def store_alone_then_sweep():
        lifecycle.send_message(thread, author=ground.alice, text="Rather this", joins="interrupt")
        sweeper.sweep()

    run_and(store_alone_then_sweep, chars=20)

    assert shown(thread)[2:] == ["Rather this", "This then."] and thread.turns.get().state == Turn.State.DONE


def test_an_answer_given_again_follows_what_the_turn_was_told_last(ground):
    ground.script([{**SLOW, **LOOK}, "Done."])
    thread = ground.open("First task")
    run_and(lambda: put(ground, thread, "Mind the gap", "steer"), chars=20)

    lifecycle.retry_turn(last_turn(thread))
    run_all()

    assert shown(thread) == ["First task", SLOW["text"], "Mind the gap", "Done."]
    answers = thread.messages.filter(role="assistant", parent__client_key="Mind the gap")
    assert [each.turn_id for each in answers] == [turn.pk for turn in thread.turns.order_by("pk")]


def test_a_stop_in_the_middle_leaves_the_steering_message_to_the_next_turn(ground):
    ground.script({"rules": [{"when": {"user": "Then this"}, "reply": "This then."}, {"when": {}, "reply": SLOW}]})
    thread = ground.open("First task")

    def put_and_stop():
        put(ground, thread, "Then this", "steer")
        lifecycle.stop_turn(thread.turns.active().get().pk, by="Alice")

    run_and(put_and_stop, chars=20)

    assert [turn.state for turn in thread.turns.order_by("pk")] == ["stopped", "done"]
    assert shown(thread)[2:] == ["Then this", "This then."]
