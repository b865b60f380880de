"""S26: a child never can do more than its master may now, whatever the call asks for."""

import pytest

from assistants.models import Assistant, AuditEntry, Thread, ToolCall
from assistants.models.definition import definition_of
from assistants.turns import lifecycle
from tests.kit.turns import last_turn, run_all


def spawn(**more):
    return {"calls": [{"name": "spawn_agent", "arguments": {"task": "Say hello", "prompt": "Be brief.", "tools": [], **more}}]}


def run(ground, step):
    ground.script([step, "Done."])
    thread = ground.open()
    run_all()
    return last_turn(thread).calls.get()


EXTRA = {
    **{
        "model": "bigger",
        "budget": 10**9,
        "roots": ["/"],
        "profile": 1,
        "max_steps": 9999,
        "depth": 0,
        "owner": 1,
        "tenant": 2,
    },
    **{"public": True, "system_prompt": "x", "parent": "chat0", "assistant_id": 1, "name": "root"},
}


def test_s26_a_field_that_the_tool_does_not_have_is_refused(ground):
    extras = [{name: value} for name, value in EXTRA.items()]
    calls = [spawn(**extra)["calls"][0] for extra in extras]
    calls += [{"name": "invoke_assistant", "arguments": {"assistant": "lead", "task": "x", **extra}} for extra in extras]
    ground.script([{"calls": calls}, "Done."])
    thread = ground.open()
    run_all()

    assert [call.code for call in last_turn(thread).calls.all()] == ["BAD_ARGUMENTS"] * len(calls)
    assert not Thread.objects.exclude(parent=None).exists()


NOT_ITS_OWN = [
    "search_documents",
    "invoke_assistant",
    "spawn_agent",
    "hand_back",
    "Current_time",
    "nothing",
    "*",
    "",
    "current_time ",
]


def test_s26_tools_that_the_master_can_not_give_are_refused_and_the_attempts_are_noted(ground):
    ground.script([{"calls": [spawn(tools=["current_time", name])["calls"][0] for name in NOT_ITS_OWN]}, "Done."])
    thread = ground.open()
    run_all()

    assert {call.code for call in last_turn(thread).calls.all()} == {"TOOL_NOT_GRANTABLE"}
    assert not Thread.objects.exclude(parent=None).exists()
    noted = AuditEntry.objects.filter(action="tool_refused", tenant=ground.apes, user=ground.alice, target="spawn_agent")
    assert [entry.detail["code"] for entry in noted] == ["TOOL_NOT_GRANTABLE"] * len(NOT_ITS_OWN)


def test_s26_a_stronger_assistant_as_the_base_lends_no_tool(ground):
    ground.assistant("strong", tools=["search_documents", "read_document", "current_time"], script=["Hello."])

    run(ground, spawn(based_on="strong", tools=["current_time"]))
    refused = run(ground, spawn(based_on="strong", tools=["read_document"]))

    assert definition_of(Thread.objects.exclude(parent=None).get()).tools == ("current_time",)
    assert refused.code == "TOOL_NOT_GRANTABLE"


@pytest.mark.parametrize("loss", ["the tool", "the right to answer", "everything"])
def test_s26_what_the_master_loses_is_lost_to_its_agents_too_and_to_their_copies(ground, client, loss):
    run(ground, spawn(tools=["current_time"]))
    child = Thread.objects.exclude(parent=None).get()
    client.force_login(ground.alice)
    answer = child.messages.filter(role="assistant").order_by("-sequence").first()
    client.post(f"/message/{answer.pk}/fork/")
    fork = Thread.objects.filter(parent=None).order_by("-pk").first()
    assert definition_of(child).tools == definition_of(fork).tools == ("current_time",)

    if loss == "the tool":
        Assistant.objects.filter(pk=ground.lead.pk).update(tools=["spawn_agent"])
    elif loss == "the right to answer":
        Assistant.objects.filter(pk=ground.lead.pk).update(enabled=False)
    else:
        ground.lead.delete()

    assert definition_of(Thread.objects.get(pk=child.pk)).tools == ()
    assert definition_of(Thread.objects.get(pk=fork.pk)).tools == ()


def test_s26_a_call_with_a_lost_tool_is_refused_in_the_agents_own_chat(ground):
    run(ground, spawn(tools=["current_time"]))
    child = Thread.objects.exclude(parent=None).get()
    Assistant.objects.filter(pk=ground.lead.pk).update(tools=["spawn_agent"])
    ground.script([{"calls": [{"name": "current_time", "arguments": {}}]}, "No clock."])

    lifecycle.send_message(child, author=ground.alice, text="What time is it?")
    run_all()

    assert ToolCall.objects.get(turn__thread=child).code == "TOOL_NOT_ALLOWED"


def test_s26_without_strict_grants_an_agent_keeps_what_it_was_given(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "STRICT_GRANTS": False}
    run(ground, spawn(tools=["current_time", "search_documents"]))

    assert definition_of(Thread.objects.exclude(parent=None).get()).tools == ("current_time", "search_documents")
