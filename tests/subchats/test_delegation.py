"""Delegation: the two tools, the sub-chat's anatomy, what the master sees, and what is refused (rows T)."""

import json
import re

import pytest
from django.core.management import CommandError, call_command

from assistants.models import Assistant, Thread, Turn
from assistants.rendering import fragments
from assistants.tools.registry import find_tool
from assistants.turns import lifecycle
from subchats.delegation.send_back import send_back
from subchats.models import Delegation
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.world import scripted_profile


def invoke(assistant="stock", task="Count B12345", **more):
    return {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": assistant, "task": task, **more}}]}


def spawn(tools=(), task="Say hello", prompt="Be brief.", **more):
    arguments = {"task": task, "prompt": prompt, "tools": list(tools), **more}
    return {"calls": [{"name": "spawn_agent", "arguments": arguments}]}


def result_of(thread):
    return json.loads(last_turn(thread).calls.get().result)


def delegate(ground, step):
    """Opens a conversation whose lead takes this step first, and runs it to the end."""
    ground.script([step, "Done."])
    thread = ground.open()
    run_all()
    return thread


def test_t01_both_tools_are_registered_for_every_tenant(ground):
    assert find_tool("invoke_assistant") and find_tool("spawn_agent")


def test_t01_an_assistant_without_the_tool_is_not_offered_it(ground):
    ground.lead.tools = ["current_time"]
    ground.lead.save()
    ground.assistant("stock", script=["42"])

    thread = delegate(ground, invoke())

    assert last_turn(thread).calls.get().code == "TOOL_NOT_ALLOWED"
    assert not Thread.objects.exclude(parent=None).exists()


def test_t02_the_callee_needs_no_delegation_tool_itself(ground):
    ground.assistant("stock", tools=[], script=["42"])

    thread = delegate(ground, invoke())

    assert result_of(thread)["success"]


def test_t03_a_public_assistant_is_refused_at_run_time(ground):
    Assistant.objects.filter(pk=ground.lead.pk).update(public=True)
    ground.assistant("stock", script=["42"])

    thread = delegate(ground, invoke())

    assert last_turn(thread).calls.get().code == "TOOL_NOT_ALLOWED"
    assert not Delegation.objects.exists()


@pytest.mark.parametrize("arguments", [{"assistant": "stock"}, {"task": "Count"}, {"assistant": "stock", "task": ""}])
def test_t04_an_invoke_without_assistant_or_task_is_refused(ground, arguments):
    ground.assistant("stock", script=["42"])

    thread = delegate(ground, {"calls": [{"name": "invoke_assistant", "arguments": arguments}]})

    assert last_turn(thread).calls.get().code == "BAD_ARGUMENTS"
    assert not Delegation.objects.exists()


def test_t04_an_unknown_slug_is_refused_by_name(ground):
    ground.assistant("stock", script=["42"])

    thread = delegate(ground, invoke("stocks"))

    call = last_turn(thread).calls.get()
    assert call.code == "DELEGATE_NOT_ALLOWED"
    assert "stocks" in call.result and "stock" in call.result
    assert not Delegation.objects.exists()


def test_t05_an_ad_hoc_agent_with_no_tools_has_none(ground):
    ground.lead.profile = scripted_profile(
        ground.apes, "both", {"rules": [{"when": {"system": "Be brief"}, "reply": "Hello."}, {"steps": [spawn(), "Done."]}]}
    )
    ground.lead.save()
    thread = ground.open()
    run_all()

    child = Thread.objects.get(parent=thread)
    assert child.agent["tools"] == [] and child.assistant is None
    assert result_of(thread)["reply"] == "Hello."


def test_t06_the_child_sees_its_task_and_the_marked_context_and_nothing_else(ground):
    ground.assistant("stock", instructions="You count.", script=["42"])
    ground.script([invoke(context="Warehouse 2 only."), "Done."])
    thread = ground.open("A secret of the parent")
    run_all()

    child = Thread.objects.get(parent=thread)
    system, user = child.messages.filter(role__in=["system", "user"]).order_by("sequence")
    assert system.text.startswith("You count.")
    assert system.text.splitlines()[-2] == "Warehouse 2 only."
    assert "not instructions" in system.text
    assert user.text == "Count B12345"
    assert not child.messages.filter(parts__icontains="secret of the parent").exists()


def test_t07_t15_the_master_learns_six_fields_and_no_reasoning(ground):
    ground.assistant(
        "stock",
        tools=["current_time"],
        script=[{"calls": [{"name": "current_time", "arguments": {}}], "reasoning": "Hm."}, "42"],
    )

    thread = delegate(ground, invoke())

    assert result_of(thread) == {
        "success": True,
        "sub_chat_id": Thread.objects.get(parent=thread).chat_id,
        "reply": "42",
        "tools_used": ["current_time"],
        "iterations": 2,
        "error": None,
    }


def test_t08_the_sub_chat_is_a_thread_of_its_own(ground):
    ground.assistant("stock", tools=["current_time"], script=[{"calls": [{"name": "current_time"}]}, "42"])

    thread = delegate(ground, invoke())

    child = Thread.objects.get(parent=thread)
    assert re.fullmatch(rf"sub_{thread.chat_id}_[0-9a-f]{{8}}", child.chat_id)
    assert set(child.messages.values_list("role", flat=True)) == {"system", "user", "assistant", "tool"}
    assert set(thread.messages.values_list("role", flat=True)) == {"user", "assistant", "tool"}


def test_t09_the_child_names_its_parent_and_the_message_that_called(ground):
    ground.assistant("stock", script=["42"])

    thread = delegate(ground, invoke())

    child = Thread.objects.get(parent=thread)
    assert child.parent_id == thread.chat_id
    assert child.parent_message == last_turn(thread).calls.get().message


def test_t10_a_sub_chat_can_be_continued_as_a_conversation_of_its_own(ground):
    ground.assistant("stock", script=["42", "Still 42."])
    thread = delegate(ground, invoke())
    child = Thread.objects.get(parent=thread)
    before = list(thread.messages.values_list("pk", flat=True))

    lifecycle.send_message(child, author=ground.alice, text="Sure?")
    run_all()

    assert replies(child) == ["42", "Still 42."]
    assert list(thread.messages.values_list("pk", flat=True)) == before


def test_t11_master_sub_and_sub_sub_work_and_a_third_hop_makes_no_thread(ground):
    ground.assistant("c", tools=["invoke_assistant"], script=[invoke("d"), "c could not ask."])
    ground.assistant("d", script=["never"])
    ground.assistant("b", tools=["invoke_assistant"], script=[invoke("c"), "b is done."])

    thread = delegate(ground, invoke("b"))

    chats = list(Thread.objects.filter(root=thread).order_by("pk"))
    assert [chat.assistant.slug for chat in chats] == ["b", "c"]
    refused = last_turn(chats[1]).calls.get()
    assert refused.code == "DEPTH_EXCEEDED" and "yourself" in refused.result
    assert replies(thread)[-1] == "Done."


def test_t12_each_assistant_asks_its_own_model_and_falls_back_to_the_tenants(ground):
    ground.apes.default_profile = scripted_profile(ground.apes, "default", ["From the default."])
    ground.apes.save()
    ground.assistant("own", script=["From my own."])
    ground.assistant("plain")

    own = delegate(ground, invoke("own"))
    plain = delegate(ground, invoke("plain"))

    assert result_of(own)["reply"] == "From my own."
    assert result_of(plain)["reply"] == "From the default."


def test_t13_a_call_outside_the_childs_list_is_refused(ground):
    ground.assistant("stock", tools=[], script=[{"calls": [{"name": "current_time"}]}, "42"])

    thread = delegate(ground, invoke())

    child = Thread.objects.get(parent=thread)
    assert last_turn(child).calls.get().code == "TOOL_NOT_ALLOWED"
    assert result_of(thread)["tools_used"] == []


@pytest.mark.parametrize("tools", [["invoke_assistant"], ["hand_back_everything"], ["calculate"]])
def test_t14_s26_an_agent_gets_no_delegation_tool_and_none_that_its_master_lacks(ground, tools):
    thread = delegate(ground, spawn(tools))

    call = last_turn(thread).calls.get()
    assert call.code == "TOOL_NOT_GRANTABLE" and tools[0] in call.result
    assert not Delegation.objects.exists()


def test_t14_without_strict_grants_any_known_tool_may_be_given(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "STRICT_GRANTS": False}
    ground.lead.tools = ["spawn_agent"]
    ground.lead.save()

    thread = delegate(ground, spawn(["current_time"]))

    assert Thread.objects.get(parent=thread).agent["tools"] == ["current_time"]


def test_s26_extra_fields_are_refused(ground):
    thread = delegate(ground, spawn([], model="bigger", budget=10**9))

    assert last_turn(thread).calls.get().code == "BAD_ARGUMENTS"
    assert not Delegation.objects.exists()


def test_t05_based_on_starts_from_an_assistants_prompt_and_model(ground):
    ground.assistant("stock", instructions="You count.", script=["Based."])

    thread = delegate(ground, spawn([], based_on="stock"))

    child = Thread.objects.get(parent=thread)
    system = child.messages.get(role="system").text
    assert system.startswith("You count.") and system.endswith("Be brief.")
    assert result_of(thread)["reply"] == "Based."


def test_t15_a_failed_child_has_the_same_six_fields(ground):
    ground.assistant("stock", script=[{"text": "So far", "error": "MODEL_AUTH"}])

    thread = delegate(ground, invoke())

    result = result_of(thread)
    assert set(result) == {"success", "sub_chat_id", "reply", "tools_used", "iterations", "error"}
    assert result["success"] is False and result["error"].startswith("[MODEL_AUTH]")


def test_t16_t09_the_command_line_calls_a_tool_and_names_no_message(ground, capsys):
    ground.assistant("stock", script=["42"])

    call_command(
        "test_tool", "--tenant", "apes", "--tool", "invoke_assistant", "--args", '{"assistant":"stock","task":"Count"}'
    )

    assert json.loads(capsys.readouterr().out)["reply"] == "42"
    child = Thread.objects.filter(tenant__slug="apes").exclude(parent=None).get()
    assert child.parent_message is None and child.parent.title == "test_tool invoke_assistant"


def test_t16_the_command_line_says_what_is_wrong(ground):
    with pytest.raises(CommandError, match="no tenant zoo"):
        call_command("test_tool", "--tenant", "zoo", "--tool", "current_time")
    with pytest.raises(CommandError, match="DELEGATE_NOT_ALLOWED"):
        call_command("test_tool", "--tenant", "apes", "--tool", "invoke_assistant", "--args", '{"assistant":"x","task":"y"}')


def test_s27_assistants_of_others_look_exactly_like_invented_ones(ground):
    ground.assistant("secret", tenant=ground.bears, script=["bears only"])
    ground.assistant("off", enabled=False, script=["off"])
    ground.assistant("stock", script=["42"])
    words = []
    for name in ("secret", "off", "Stock", "1", "invented"):
        thread = delegate(ground, invoke(name))
        words.append(last_turn(thread).calls.get().result.replace(name, "NAME"))

    assert len(set(words)) == 1
    assert not Delegation.objects.exists()


def test_report_d34_an_assistant_calls_itself_only_when_it_is_on_its_own_list(ground):
    ground.lead.delegates.add(ground.assistant("stock", script=["42"]))

    thread = delegate(ground, invoke("lead"))

    assert last_turn(thread).calls.get().code == "DELEGATE_NOT_ALLOWED"


def test_two_delegations_in_one_reply_run_side_by_side(ground):
    ground.assistant("a", script=["from a"])
    ground.assistant("b", script=["from b"])
    ground.script([{"calls": [*invoke("a")["calls"], *invoke("b")["calls"]]}, "Both."])
    thread = ground.open()

    run_all()

    results = [json.loads(call.result)["reply"] for call in last_turn(thread).calls.order_by("index")]
    assert results == ["from a", "from b"]
    assert last_turn(thread).state == Turn.State.DONE


def test_s28_f26_no_more_sub_chats_than_the_turns_limit(ground):
    ground.assistant("stock", script=["42"])
    ground.script([{"calls": [invoke(task=f"Count {n}")["calls"][0] for n in range(10)]}, "Enough."])
    thread = ground.open()

    run_all()

    codes = [call.code for call in last_turn(thread).calls.order_by("index")]
    assert codes == [""] * 8 + ["SPAWN_LIMIT"] * 2
    assert Thread.objects.filter(parent=thread).count() == 8


def test_s28_report_d11_no_more_agents_than_the_trees_limit(ground, settings):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "MAX_AGENTS_PER_TREE": 6}
    ground.assistant("leaf", script=["leaf"])
    many = {"calls": [invoke("leaf", task=f"Part {n}")["calls"][0] for n in range(4)]}
    plan = {"name": "write_plan", "arguments": {"steps": [{"description": "Ask", "specialist": "leaf", "check": "One number"}]}}
    ground.assistant("mid", tools=["write_plan", "invoke_assistant"], script=[{"calls": [plan]}, many, "mid"])
    ground.script([{"calls": [invoke("mid", task=f"Half {n}")["calls"][0] for n in range(2)]}, "Enough."])
    thread = ground.open()

    run_all()

    assert Thread.objects.filter(root=thread).count() + 1 == 6
    assert replies(thread)[-1] == "Enough."


def test_a_result_that_was_sent_up_says_from_whom_and_on_what_and_is_drawn_as_it_was_there(ground):
    ground.assistant("stock", script=["First.", "**42** pieces."])
    ground.script(
        [{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}, "One.", "Two."]
    )
    thread = ground.open()
    run_all()
    child = Thread.objects.get(parent=thread)
    lifecycle.send_message(child, author=ground.alice, text="And in\nred?")
    run_all()

    sent = send_back(child, by=ground.alice)
    page = str(fragments.draw_log(fragments.viewpoint(thread, ground.alice)))

    assert sent.message.text.startswith(f"New result from the sub-chat with Stock ({child.chat_id}) on “And in red?”:\n\n")
    assert f'<a href="/c/{child.chat_id}/">New result from the sub-chat with Stock</a>' in page and "And in red?" in page
    assert "<strong>42</strong> pieces." in page and f"({child.chat_id})" not in page
