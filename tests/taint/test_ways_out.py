"""D8: text from outside, private data and a way out together need a person; any two of them do not."""

import itertools

import pytest

from assistants.models import Thread, ToolCall
from assistants.models.definition import definition_of
from assistants.tools.registry import find_tool
from tests.kit.sealed import allow, asked, call, give
from tests.kit.turns import replies, run_all

POST = call("post", to="https://example.org", text="B12345")


@pytest.fixture(autouse=True)
def tools(catcher):
    catcher.declare("post", sends_out=True, effect="once")
    catcher.source("page", "A page.", takes_untrusted=True)
    catcher.source("record", "A record.", reads_private=True)


def run(ground, *names, last=POST):
    give(ground.lead, "post", "page", "record", "note")
    ground.script([*({"calls": [call(name)]} for name in names), {"calls": [last]}, "Done."])
    thread = ground.open()
    run_all()
    return thread


@pytest.mark.parametrize("order", list(itertools.permutations(["page", "record"])))
def test_d8_all_three_together_are_held_with_the_exact_arguments(ground, catcher, order):
    thread = run(ground, *order)

    waiting = asked(thread)
    assert (waiting.approval["why"], waiting.arguments) == (["taint"], POST["arguments"]) and catcher.caught == []
    allow(waiting, ground.alice)
    run_all()

    assert len(catcher.caught) == 1 and replies(thread)[-1] == "Done."


@pytest.mark.parametrize("source", [(), ("page",), ("record",)])
def test_d8_two_of_the_three_need_nobody(ground, catcher, source):
    run(ground, *source)

    assert len(catcher.caught) == 1 and not ToolCall.objects.asked().exists()


def test_d8_what_stays_inside_is_never_held(ground, catcher):
    run(ground, "page", "record", last=call("note", to="a", text="b"))

    assert len(catcher.caught) == 1


def test_d8_a_chat_over_ones_own_documents_asks_for_nothing():
    """Documents count as private and as untrusted; as long as nothing can leave, nobody is asked."""
    inside = ("search_documents", "read_document", "calculate", "current_time", "ask_clarifying_question", "invoke_assistant")

    assert [name for name in inside if find_tool(name).sends_out or find_tool(name).approval] == []
    for name in ("search_documents", "read_document"):
        assert find_tool(name).takes_untrusted and find_tool(name).reads_private


def test_d8_a_page_from_outside_carries_text_out_in_its_address():
    fetch = find_tool("fetch_url")

    assert fetch.sends_out and fetch.takes_untrusted and not fetch.approval


def test_d8_a_child_with_a_way_out_is_held_for_what_its_caller_read(ground, catcher):
    ground.assistant("mailer", tools=["post"], script=[{"calls": [POST]}, "Posted."])
    thread = run(ground, "page", "record", last=call("invoke_assistant", assistant="mailer", task="Post B12345"))

    waiting = asked()

    assert waiting.turn.thread == thread.children.get() and waiting.approval["why"] == ["taint"] and catcher.caught == []


def test_d8_a_caller_is_held_for_what_its_child_read(ground, catcher):
    steps = [{"calls": [call("page")]}, {"calls": [call("record")]}, "Read."]
    ground.assistant("reader", tools=["page", "record"], script=steps)
    give(ground.lead, "post")
    ground.script([{"calls": [call("invoke_assistant", assistant="reader", task="Read")]}, {"calls": [POST]}, "Done."])
    thread = ground.open()
    run_all()

    assert asked(thread).name == "post" and catcher.caught == []


def test_d8_the_two_halves_may_come_from_two_children(ground, catcher):
    for name in ("page", "record"):
        ground.assistant(f"{name}-reader", tools=[name], script=[{"calls": [call(name)]}, "Read."])
    calls = [call("invoke_assistant", assistant=f"{name}-reader", task="Read") for name in ("page", "record")]
    give(ground.lead, "post")
    ground.script([{"calls": calls}, {"calls": [POST]}, "Done."])
    thread = ground.open()
    run_all()

    assert asked(thread).name == "post" and catcher.caught == []


def test_d8_an_ad_hoc_agent_asks_for_what_its_master_asks_for(ground, catcher):
    give(ground.lead, "note", approve_tools=["note"])
    note = {"calls": [call("note", to="a", text="b")]}
    spawn = call("spawn_agent", task="Note it", prompt="You note.", tools=["note"])
    ground.script([{"calls": [spawn]}, note, "Noted.", "Done."])
    ground.open()
    run_all()

    waiting = asked()

    assert waiting.turn.thread.agent and waiting.approval["why"] == ["assistant"] and catcher.caught == []


def test_d8_an_agent_without_its_master_asks_for_everything(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "STRICT_GRANTS": False}
    agent = {"name": "A", "prompt": "", "tools": ["note", "post"], "master": 999_999}
    thread = Thread.objects.create(tenant=ground.apes, owner=ground.alice, agent=agent)

    assert definition_of(thread).approve_tools == ("note", "post")
