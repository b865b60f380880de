"""Reports T4 and T6: stop works however a turn began, and is final."""

import pytest

from assistants.models import Message, Turn
from assistants.turns import branches, lifecycle, questions, queue
from tests.kit.browsers import HTMX, signed_in
from tests.kit.meanwhile import run_and
from tests.kit.turns import last_turn, run_all
from tests.kit.words import said, shown, url

SLOW = {"text": "word " * 400, "delta_chars": 5, "delay_ms": 5}
ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}]}


def first_message(ground):
    return ground.open("Go")


def second_message(ground):
    thread = quiet(ground)
    lifecycle.send_message(thread, author=ground.alice, text="Go")
    return thread


def queued_message(ground):
    thread = ground.open("Before")
    lifecycle.send_message(thread, author=ground.alice, text="Go")
    ground.script({"rules": [{"when": {"user": "Before"}, "reply": "Yes."}, {"when": {}, "reply": SLOW}]})
    return thread


def queued_message_sent_now(ground):
    thread = queued_message(ground)
    queue.send_now(last_turn(thread), by=ground.alice, name="Alice")
    return thread


def answer_again(ground):
    thread = quiet(ground)
    lifecycle.retry_turn(last_turn(thread))
    return thread


def edited_message(ground):
    thread = quiet(ground)
    branches.edit_message(said(thread, "Before"), author=ground.alice, text="Go")
    return thread


def answered_question(ground):
    ground.script([ASK])
    thread = ground.open("Before")
    run_all()
    ground.script({"rules": [{"when": {}, "reply": SLOW}]})
    questions.answer(last_turn(thread).calls.get(), by=ground.alice, chosen=["a"], text="")
    return thread


def quiet(ground):
    ground.script(["Yes."])
    thread = ground.open("Before")
    run_all()
    ground.script({"rules": [{"when": {}, "reply": SLOW}]})
    return thread


WAYS = [
    first_message, second_message, queued_message, queued_message_sent_now, answer_again, edited_message, answered_question,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_report_t4_stop_works_for_every_way_a_turn_can_start(ground, way):
    ground.script({"rules": [{"when": {}, "reply": SLOW}]})
    thread = way(ground)
    browser = signed_in(ground.alice, **HTMX)

    def stop():
        return browser.post(url("stop_turn", thread.turns.active().get()))

    answer = run_and(stop, chars=20)

    turn = thread.turns.filter(state=Turn.State.STOPPED).order_by("-pk").first()
    reply = turn.messages.get(role="assistant")
    assert answer.status_code == 204 and not thread.turns.active().exists()
    assert reply.state == Message.State.STOPPED and 20 <= len(reply.text) < len(SLOW["text"])


def test_report_t6_after_a_stop_the_next_message_is_answered_at_once_and_nothing_arrives_late(ground):
    ground.script({"rules": [{"when": {"user": "Tell me"}, "reply": SLOW}, {"when": {}, "reply": "Short."}]})
    thread = ground.open("Tell me")

    def stop_and_send():
        lifecycle.stop_turn(last_turn(thread).pk, by="Alice")
        lifecycle.send_message(thread, author=ground.alice, text="Shorter")
        return thread.messages.get(state=Message.State.STOPPED).text

    kept = run_and(stop_and_send, chars=20)

    assert shown(thread) == ["Tell me", kept, "Shorter", "Short."]
    assert list(thread.turns.order_by("pk").values_list("state", flat=True)) == ["stopped", "done"]


def test_report_t6_a_second_stop_is_harmless(ground):
    ground.script([SLOW])
    thread = ground.open("Tell me")
    browser = signed_in(ground.alice, **HTMX)

    answers = run_and(lambda: [browser.post(url("stop_turn", last_turn(thread))).status_code for _ in range(2)], chars=20)

    assert answers == [204, 204] and last_turn(thread).state == Turn.State.STOPPED
    assert thread.messages.filter(role="assistant").count() == 1
