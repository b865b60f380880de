"""One message through all steps, with the scripted model."""

import json

from assistants.models import Turn
from assistants.turns import lifecycle, questions
from tests.kit.turns import last_turn, replies, run_all


def test_a_message_is_answered(ground):
    thread = ground.open("Hi there")

    run_all()

    assert replies(thread) == ["Hello from the lead."]
    assert last_turn(thread).state == Turn.State.DONE


def test_a_tool_is_called_and_its_result_reaches_the_model(ground):
    ground.script([{"calls": [{"name": "current_time", "arguments": {"zone": "Europe/Berlin"}}]}, "It is late."])
    thread = ground.open("What time is it?")

    run_all()

    call = last_turn(thread).calls.get()
    assert (call.state, call.outcome) == ("settled", "ok")
    assert json.loads(call.result)["zone"] == "Europe/Berlin"
    assert replies(thread)[-1] == "It is late."


def test_event_numbers_have_no_holes(ground):
    thread = ground.open("Hi")

    run_all()

    thread.refresh_from_db()
    assert list(thread.events.values_list("number", flat=True)) == list(range(1, thread.last_event + 1))


def test_a_repeated_client_key_returns_the_first_message(ground):
    thread = ground.open("Hi")
    first = lifecycle.send_message(thread, author=ground.alice, text="again", client_key="k1")

    second = lifecycle.send_message(thread, author=ground.alice, text="again", client_key="k1")

    assert second.repeated and second.message == first.message and second.turn == first.turn


def test_j28_a_question_ends_the_turn_and_its_answer_is_the_next_message(ground):
    ask = {"question": "Which one?", "options": ["red", "blue"]}
    ground.script([{"calls": [{"name": "ask_clarifying_question", "arguments": ask}]}, "Red it is."])
    thread = ground.open("Paint it")
    run_all()
    call = last_turn(thread).calls.get()
    assert set(json.loads(call.result)) == {"question", "options", "allowFreeText", "instruction"}
    assert last_turn(thread).state == Turn.State.DONE

    questions.answer(call, by=ground.alice, chosen=["red"], text="dark")
    run_all()

    call.refresh_from_db()
    assert call.answer["chosen"] == ["red"]
    assert replies(thread)[-1] == "Red it is."


def test_t08_a_task_is_handed_to_a_sub_chat_and_its_report_comes_back(ground):
    ground.assistant("stock", script=["Forty-two units."])
    task = {"assistant": "stock", "task": "Count B12345", "context": "Warehouse 2"}
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": task}]}, "There are 42."])
    thread = ground.open("How many B12345?")

    run_all()

    result = json.loads(last_turn(thread).calls.get().result)
    assert set(result) == {"success", "sub_chat_id", "reply", "tools_used", "iterations", "error"}
    assert result["success"] and result["reply"] == "Forty-two units."
    assert replies(thread)[-1] == "There are 42."
