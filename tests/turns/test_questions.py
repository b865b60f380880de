"""The clarifying question (J-26 to J-30, decision 7)."""

import json

import pytest

from assistants.errors import CodedError
from assistants.models import Thread, Turn
from assistants.tools.registry import find_tool
from assistants.turns import lifecycle, questions
from tests.kit.turns import last_turn, replies, run_all

ASK = {"question": "Which returns?", "options": ["Units", "Refunds", "Suppliers"]}


def ask(**changes):
    return {"calls": [{"name": "ask_clarifying_question", "arguments": {**ASK, **changes}}]}


def asked(ground, *, then="Thanks.", **changes):
    ground.script([ask(**changes), then])
    thread = ground.open("Returns?")
    run_all()
    return thread, last_turn(thread).calls.get()


def test_j26_the_description_says_when_to_ask():
    description = find_tool("ask_clarifying_question").description
    assert "ambiguous" in description and "entire reply" in description


@pytest.mark.parametrize(
    "options", [["one"], list("abcdefg"), ["same", "Same"], ["", "b"], "not a list"], ids=["1", "7", "twice", "blank", "text"]
)
def test_j27_options_are_two_to_six_distinct_texts(ground, options):
    _, call = asked(ground, options=options)
    assert call.code == "BAD_ARGUMENTS"


def test_j27_free_text_is_allowed_unless_said_otherwise(ground):
    _, call = asked(ground)
    assert json.loads(call.result)["allowFreeText"] is True


def test_j28_the_payload_has_four_fields_and_one_constant_instruction(ground):
    _, first = asked(ground)
    _, second = asked(ground, question="Another?", options=["x", "y"])
    one, two = json.loads(first.result), json.loads(second.result)
    assert list(one) == ["question", "options", "allowFreeText", "instruction"]
    assert one["instruction"] == two["instruction"]


def test_j29_the_question_is_the_whole_turn_and_parallel_calls_do_not_run(ground):
    calls = [{"name": "current_time"}, ask()["calls"][0], {"name": "current_time", "arguments": {"zone": "UTC"}}]
    ground.script([{"calls": calls}, "Must not be written."])
    thread = ground.open("Returns?")

    run_all()

    turn = last_turn(thread)
    assert (turn.state, turn.reason, turn.model_calls) == (Turn.State.DONE, "question", 1)
    assert [call.code for call in turn.calls.order_by("index")] == ["DROPPED", "", "DROPPED"]
    assert [call.attempts for call in turn.calls.order_by("index")] == [0, 1, 0]


def test_j30_chosen_options_and_free_text_become_the_next_user_message(ground):
    thread, call = asked(ground)

    questions.answer(call, by=ground.alice, chosen=["Units", "Refunds"], text="only week 47")
    run_all()

    message = thread.messages.filter(role="user").order_by("sequence").last()
    assert message.text == "My answer to “Which returns?”:\n- Units\n- Refunds\nonly week 47"
    assert replies(thread)[-1] == "Thanks."


@pytest.mark.parametrize(
    ("chosen", "text", "code"),
    [(["Other"], "", "NOT_AN_OPTION"), ([], "  ", "ANSWER_EMPTY"), (["Units"], "x" * 4001, "ANSWER_TOO_LONG")],
)
def test_a_bad_answer_says_what_to_do_and_stores_nothing(ground, chosen, text, code):
    _, call = asked(ground)

    with pytest.raises(CodedError) as caught:
        questions.answer(call, by=ground.alice, chosen=chosen, text=text)

    call.refresh_from_db()
    assert caught.value.code == code and caught.value.fix and call.answer is None


def test_free_text_is_refused_when_the_question_takes_only_its_options(ground):
    _, call = asked(ground, allowFreeText=False)

    with pytest.raises(CodedError, match="only its options"):
        questions.answer(call, by=ground.alice, chosen=[], text="mine")


def test_report_q9_a_question_is_answered_once(ground):
    thread, call = asked(ground)
    questions.answer(call, by=ground.alice, chosen=["Units"], text="")

    with pytest.raises(CodedError, match="answered already"):
        questions.answer(call, by=ground.alice, chosen=["Refunds"], text="")

    call.refresh_from_db()
    assert call.answer["chosen"] == ["Units"]
    assert thread.messages.filter(role="user").count() == 2


def test_report_q8_q17_a_plain_message_is_a_free_text_answer_relayed_as_it_is(ground):
    thread, call = asked(ground)

    questions.send_or_answer(thread, author=ground.alice, text="wait, explain first", client_key="k")
    run_all()

    call.refresh_from_db()
    assert call.answer["text"] == "wait, explain first" and call.answer["plain"] and call.answer["chosen"] == []
    assert thread.messages.filter(role="user").last().text == "wait, explain first"


def test_report_q2_silence_is_never_an_answer(ground, monkeypatch):
    from datetime import timedelta

    from assistants import clock
    from assistants.turns.sweeper import sweep

    thread, call = asked(ground)
    later = clock.now() + timedelta(days=30)
    monkeypatch.setattr(clock, "now", lambda: later)

    sweep()
    run_all()

    call.refresh_from_db()
    assert call.answer is None and last_turn(thread).reason == "question"


def test_a_childs_question_reaches_the_person_and_only_its_answer_moves_the_parent_on(ground):
    """Decision 7, report D24 and D1: the same sub-chat goes on with its context."""
    ground.assistant("stock", tools=["ask_clarifying_question"], script=[ask(), "Units: 118."])
    delegation = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Returns?"}}]}
    ground.script([delegation, "The answer is 118."])
    thread = ground.open("Returns?")
    run_all()
    child = Thread.objects.get(parent=thread)
    assert last_turn(thread).state == Turn.State.WAITING and last_turn(thread).calls.get().is_open

    questions.answer(last_turn(child).calls.get(), by=ground.alice, chosen=["Units"], text="")
    run_all()

    assert json.loads(last_turn(thread).calls.get().result)["reply"] == "Units: 118."
    assert replies(thread)[-1] == "The answer is 118."
    assert Thread.objects.filter(parent=thread).count() == 1


def test_report_q13_a_stopped_parent_leaves_a_conversation_that_works(ground):
    ground.assistant("stock", tools=["ask_clarifying_question"], script=[ask()])
    delegation = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Returns?"}}]}
    ground.script([delegation, "Fine."])
    thread = ground.open("Returns?")
    run_all()

    lifecycle.stop_turn(last_turn(thread).pk, by="alice")
    lifecycle.send_message(thread, author=ground.alice, text="Never mind")
    run_all()

    assert last_turn(thread).state == Turn.State.DONE and replies(thread)[-1] == "Fine."
