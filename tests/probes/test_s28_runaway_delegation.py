"""S28: circles, depth and width end at their limits, and one stop ends them all."""

import time

import pytest

from assistants.models import Thread, ToolCall, Turn
from assistants.turns import lifecycle
from subchats.models import Delegation
from tests.kit.turns import commit_hooks, last_turn, run_all

DELEGATES = ["invoke_assistant", "spawn_agent", "spawn_agents"]


def invoke(*names, task="Go on"):
    calls = [{"name": "invoke_assistant", "arguments": {"assistant": name, "task": f"{task} {number}"}}
             for number, name in enumerate(names)]  # fmt: skip
    return {"calls": calls}


def depths():
    return [thread.chat_id.count("sub_") for thread in Thread.objects.all()]


def test_s28_an_assistant_that_calls_itself_ends_at_the_depth(ground):
    ground.lead.delegates.add(ground.lead)
    ground.script([invoke("lead"), "Done."])
    ground.open()

    run_all()

    assert max(depths()) == 2
    assert "DEPTH_EXCEEDED" in ToolCall.objects.values_list("code", flat=True)


def test_s28_two_that_call_each_other_end_at_the_depth(ground):
    ground.assistant("other", tools=DELEGATES, script=[invoke("lead"), "Other is done."])
    ground.script([invoke("other"), "Lead is done."])
    thread = ground.open()

    run_all()

    assert max(depths()) == 2 and Turn.objects.filter(state=Turn.State.DONE).count() == Turn.objects.count()
    assert last_turn(thread).state == Turn.State.DONE


def test_s28_fifty_levels_are_two(ground):
    for level in range(50):
        following = f"level{level + 1}"
        ground.assistant(f"level{level}", tools=DELEGATES, script=[invoke(following), f"{level}"])
    ground.script([invoke("level0"), "Done."])
    thread = ground.open()

    run_all()

    assert Thread.objects.count() == 3 and max(depths()) == 2
    assert last_turn(thread).state == Turn.State.DONE


def test_s28_a_thousand_calls_in_one_reply_open_eight(ground):
    ground.assistant("stock", script=["42"])
    ground.script([invoke(*["stock"] * 1000), "Enough."])
    thread = ground.open()

    run_all()

    assert Delegation.objects.count() == 8
    assert last_turn(thread).calls.count() <= 32
    assert last_turn(thread).state == Turn.State.DONE


def test_s28_children_that_each_open_many_stay_within_the_tree(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "MAX_AGENTS_PER_TREE": 7}
    ground.assistant("leaf", script=["leaf"])
    plan = {"name": "write_plan", "arguments": {"steps": [{"description": "Ask", "specialist": "leaf", "check": "One number"}]}}
    ground.assistant("mid", tools=["write_plan", *DELEGATES], script=[{"calls": [plan]}, invoke(*["leaf"] * 5), "mid"])
    ground.script([invoke("mid", "mid"), "Enough."])
    thread = ground.open()

    run_all()

    assert Thread.objects.count() == 7
    assert "TREE_LIMIT" in ToolCall.objects.values_list("code", flat=True)
    assert last_turn(thread).state == Turn.State.DONE


def test_s28_a_limit_is_not_reset_by_asking_again(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "MAX_AGENTS_PER_TREE": 9}
    ground.assistant("stock", script=["42"])
    ground.script([invoke(*["stock"] * 6, task="first"), invoke(*["stock"] * 6, task="second"), "Enough."])
    ground.open()

    run_all()

    assert Delegation.objects.count() == 8


@pytest.mark.parametrize("way", ["stop", "delete"])
def test_s28_one_stop_ends_the_whole_tree_within_two_seconds(ground, client, way):
    ask = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}]}
    ground.assistant("leaf", tools=["ask_clarifying_question"], script=[ask])
    ground.assistant("mid", tools=DELEGATES, script=[invoke("leaf"), "mid"])
    ground.script([invoke("mid", "mid"), "Enough."])
    thread = ground.open()
    run_all()
    waiting = Turn.objects.active().count()
    client.force_login(ground.alice)

    began = time.process_time()
    client.post(f"/turn/{last_turn(thread).pk}/stop/" if way == "stop" else f"/c/{thread.chat_id}/delete/")
    commit_hooks()
    took = time.process_time() - began

    assert waiting == 3
    assert not Turn.objects.active().exists() and not ToolCall.objects.filter(state="open").exists()
    assert took < 2


def test_s28_a_stopped_tree_opens_nothing_more(ground):
    ground.assistant("stock", script=["42"])
    ground.script([invoke("stock"), "Done."])
    thread = ground.open()
    lifecycle.stop_turn(last_turn(thread).pk, by="Alice")

    run_all()

    assert not Delegation.objects.exists()
