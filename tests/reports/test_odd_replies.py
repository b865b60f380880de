"""Reports R1 to R3 and R6 as a whole turn meets them: empty, thinking only, throttled; nothing shown is lost."""

import pytest

from assistants.llm import scripted
from assistants.models import Message, Turn
from assistants.turns import lifecycle
from tests.kit.browsers import signed_in
from tests.kit.meanwhile import in_mid_stream
from tests.kit.page import Page
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.words import run_with_rests, shown, url


def test_report_r1_an_empty_reply_is_a_visible_failure_with_a_retry_and_the_context_stays(ground):
    ground.script({"rules": [{"when": {"user": "Second"}, "reply": ""}, {"when": {}, "reply": "You said: {{user}}"}]})
    thread = ground.open("First")
    run_all()
    lifecycle.send_message(thread, author=ground.alice, text="Second")

    run_with_rests()

    turn = last_turn(thread)
    page = Page(signed_in(ground.alice), thread)
    assert (turn.state, turn.reason) == (Turn.State.FAILED, "limit:empty") and "Try again" in page.at("log").text()
    lifecycle.send_message(thread, author=ground.alice, text="Third")
    run_all()
    asked = [part.content for m in scripted.requests(ground.lead.profile.model)[-1].messages for part in m.parts][1:]
    assert asked == ["First", "You said: First", "Second", "Third"]


def test_report_r1_an_empty_reply_is_asked_for_again_at_most_twice(ground):
    ground.script({"rules": [{"when": {}, "reply": ""}]})
    thread = ground.open("Hi")

    run_with_rests()

    assert last_turn(thread).model_calls == 3 and len(scripted.requests(ground.lead.profile.model)) == 3


def test_report_r1_a_reply_that_is_empty_once_and_then_comes_is_no_failure(ground):
    ground.script([""])
    thread = ground.open("Hi")
    run_all()
    ground.script(["There you are."])

    run_with_rests()

    assert shown(thread) == ["Hi", "There you are."] and last_turn(thread).state == Turn.State.DONE


def test_report_r2_thoughts_without_an_answer_are_shown_as_thoughts_with_a_notice(ground):
    ground.script({"rules": [{"when": {}, "reply": {"reasoning": "The user wants a number."}}]})
    thread = ground.open("How many?")

    run_with_rests()

    log = Page(signed_in(ground.alice), thread).at("log").text()
    assert last_turn(thread).state == Turn.State.FAILED and last_turn(thread).output_tokens > 0
    assert "The user wants a number." in log and "only thought" in log


@pytest.mark.parametrize("ending", [{}, {"cut": True}, {"finish": "length"}], ids=["whole", "cut", "length"])
def test_report_r3_what_is_kept_is_never_shorter_than_what_was_shown(ground, ending):
    text = "word " * 40
    ground.script({"rules": [{"when": {}, "reply": {"text": text, "delta_chars": 5, "delay_ms": 5, **ending}}]})
    thread = ground.open("Hi")
    browser = signed_in(ground.alice)
    page = Page(browser, thread)

    def look():
        page.poll()
        return page.texts()[1]

    with in_mid_stream(look, chars=50) as seen:
        run_with_rests()

    kept = thread.messages.get(role="assistant")
    assert kept.text.startswith(seen[0]) and len(seen[0]) >= 45
    assert kept.state == (Message.State.FAILED if ending.get("cut") else Message.State.COMPLETE)


def test_report_r6_a_throttled_model_is_asked_again_when_it_said_so_and_the_person_is_told(ground):
    ground.script({"rules": [{"when": {}, "reply": {"error": "MODEL_RATE_LIMITED", "retry_after": 7}}]})
    thread = ground.open("Hi")
    run_all()
    turn = last_turn(thread)
    paused = Page(signed_in(ground.alice), thread).at("state").text()
    ground.script(["Now it works."])

    run_with_rests()

    assert turn.state == Turn.State.PAUSED and turn.wake_at is not None and "MODEL_RATE_LIMITED" in paused
    assert 5 < (turn.wake_at - turn.started).total_seconds() < 12
    assert replies(thread) == ["Now it works."] and last_turn(thread).state == Turn.State.DONE


@pytest.mark.parametrize(("code", "calls"), [("MODEL_RATE_LIMITED", 4), ("MODEL_QUOTA", 1)])
def test_report_r6_there_is_no_endless_loop_and_a_way_to_try_again(ground, code, calls):
    ground.script({"rules": [{"when": {}, "reply": {"error": code}}]})
    thread = ground.open("Hi")

    run_with_rests()

    page = Page(signed_in(ground.alice), thread).at("log").text()
    assert len(scripted.requests(ground.lead.profile.model)) == calls
    assert (last_turn(thread).state, last_turn(thread).reason) == (Turn.State.FAILED, code)
    assert "Try again" in page and "{" not in last_turn(thread).note
    ground.script(["Better."])
    signed_in(ground.alice).post(url("retry_turn", last_turn(thread)))
    run_all()
    assert shown(thread) == ["Hi", "Better."]
