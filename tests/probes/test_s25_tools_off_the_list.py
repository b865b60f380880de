"""S25: a tool that is not on the assistant's list does nothing, whatever the model calls it, and the attempt is noted."""

import importlib
import json
from dataclasses import replace

import pytest

from assistants.models import Assistant, AuditEntry, ToolCall
from assistants.tools import registry
from tests.kit.ledger import toolbox
from tests.kit.turns import last_turn, replies, run_all


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """The tools with an effect outside, for this test alone, and the file where an effect would stand."""
    path = tmp_path / "ledger"
    monkeypatch.setenv("TASKMONKEY_LEDGER", str(path))
    monkeypatch.setattr(registry, "_tools", {name: each for name, each in registry._tools.items() if name not in NAMES})
    importlib.reload(toolbox)
    for name in NAMES:
        fast = registry.find_tool(name)
        monkeypatch.setitem(registry._tools, name, replace(fast, in_transaction=True) if fast else fast)
    return path


NAMES = ("look", "put", "charge")
TRIED = [
    "charge",
    "put",
    "look",
    "Charge",
    "charge ",
    "functions.charge",
    "toolbox.charge",
    "ch\u0430rge",
    "__class__",
    "invoke",
    "",
]


def call(name, **arguments):
    return {"calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.parametrize("name", TRIED)
def test_s25_a_tool_that_is_not_on_the_list_leaves_no_effect(ground, ledger, name):
    ground.script([call(name), "I can not."])
    thread = ground.open()

    run_all()

    refused = ToolCall.objects.get(turn__thread=thread)
    assert refused.code in ("TOOL_NOT_ALLOWED", "TOOL_UNKNOWN")
    assert not ledger.exists()
    assert replies(thread)[-1] == "I can not."


def test_s25_the_attempt_at_a_real_tool_is_noted_without_its_content(ground, ledger):
    ground.script([call("charge", amount="secret 500"), "No."])
    thread = ground.open()

    run_all()

    (entry,) = AuditEntry.objects.filter(action="tool_refused")
    assert (entry.tenant, entry.user, entry.target) == (ground.apes, ground.alice, "charge")
    assert (entry.detail["code"], entry.detail["thread"]) == ("TOOL_NOT_ALLOWED", thread.chat_id)
    assert "secret" not in json.dumps(entry.detail)


def test_s25_a_tool_that_is_taken_away_in_the_middle_of_a_turn_is_gone_at_once(ground, ledger, monkeypatch):
    ground.lead.tools = ["put", "charge"]
    ground.lead.save()
    # The first call takes the second one's tool away, as an admin would at this moment.
    body = registry.find_tool("put")
    taken = replace(body, function=lambda context, **_: Assistant.objects.update(tools=["put"]) and "taken")
    monkeypatch.setitem(registry._tools, "put", taken)
    ground.script([{"calls": [*call("put")["calls"], *call("charge")["calls"]]}, "Done."])
    thread = ground.open()

    run_all()

    codes = [each.code for each in last_turn(thread).calls.order_by("index")]
    assert codes == ["", "TOOL_NOT_ALLOWED"]
    assert not ledger.exists()


def test_s25_a_waiting_turn_goes_on_with_the_list_as_it_is_by_then(ground, ledger):
    ground.lead.tools = ["invoke_assistant", "charge"]
    ground.lead.save()
    ground.assistant("stock", script=["42"])
    ground.script([call("invoke_assistant", assistant="stock", task="Count"), call("charge"), "Done."])
    thread = ground.open()
    Assistant.objects.filter(pk=ground.lead.pk).update(tools=["invoke_assistant"])

    run_all()

    assert ToolCall.objects.get(name="charge").code == "TOOL_NOT_ALLOWED"
    assert not ledger.exists() and replies(thread)[-1] == "Done."


def test_s25_another_teams_assistant_lends_its_tools_to_nobody(ground, ledger):
    ground.assistant("payer", tenant=ground.bears, tools=["charge"], script=["x"])
    ground.script([call("charge"), call("invoke_assistant", assistant="payer", task="Pay"), "No."])
    ground.open()

    run_all()

    assert {each.code for each in ToolCall.objects.all()} == {"TOOL_NOT_ALLOWED", "DELEGATE_NOT_ALLOWED"}
    assert not ledger.exists()


def test_s25_a_tool_on_the_list_works_and_is_not_noted(ground, ledger):
    ground.lead.tools = ["charge"]
    ground.lead.save()
    ground.script([call("charge"), "Paid."])
    ground.open()

    run_all()

    assert ledger.read_text().count("charge") == 1
    assert not AuditEntry.objects.exists()
