"""S27: an assistant that somebody may not use looks like one that nobody has, to the model and in every list."""

import pytest

from assistants.models import AuditEntry, Thread
from assistants.models.definition import define
from assistants.tools.registry import find_tool
from tests.kit.turns import last_turn, run_all

NAMES = [
    *("secret", "off", "guide", "lead", "Stock", "STOCK", "stock ", "stock\u200b", "st%6fck", "apes/stock", "bears/secret"),
    *("1", "2", "0", "-1", "*", "invented"),
]


@pytest.fixture
def crowd(ground):
    ground.assistant("secret", tenant=ground.bears, script=["bears only"])
    ground.assistant("off", enabled=False, script=["off"])
    ground.assistant("guide", public=True, script=["visitors only"])
    ground.assistant("stock", script=["42"])
    return ground


def tried(ground, *names, tool="invoke_assistant"):
    """The calls of one reply that names each of these."""
    task = {"task": "Count"} if tool == "invoke_assistant" else {"task": "Count", "prompt": "x", "tools": []}
    field = "assistant" if tool == "invoke_assistant" else "based_on"
    ground.script([{"calls": [{"name": tool, "arguments": {**task, field: name}} for name in names]}, "No."])
    thread = ground.open()
    run_all()
    return list(last_turn(thread).calls.order_by("index"))


@pytest.mark.parametrize("tool", ["invoke_assistant", "spawn_agent"])
def test_s27_every_name_that_is_not_allowed_gets_the_same_words(crowd, tool):
    calls = tried(crowd, *NAMES, tool=tool)

    assert {call.code for call in calls} == {"DELEGATE_NOT_ALLOWED"}
    words = {call.result.replace(f"“{name}”", "NAME") for name, call in zip(NAMES, calls, strict=True)}
    assert len(words) == 1 and "You may choose: stock." in words.pop()
    assert not Thread.objects.exclude(parent=None).exists()


def test_s27_the_attempt_is_noted_for_the_admins_without_what_was_asked(crowd):
    tried(crowd, "secret")

    entry = AuditEntry.objects.get(action="tool_refused")
    assert (entry.tenant, entry.user, entry.target) == (crowd.apes, crowd.alice, "invoke_assistant")
    assert entry.detail["code"] == "DELEGATE_NOT_ALLOWED" and "Count" not in str(entry.detail)


def test_s27_the_tools_description_names_only_who_may_be_called(crowd):
    told = find_tool("invoke_assistant").define(define(crowd.lead), crowd.open())

    assert told.parameters_json_schema["properties"]["assistant"]["enum"] == ["stock"]
    assert not [name for name in ("secret", "Secret", "off", "Off", "guide", "Guide") if name in told.description]


def test_s27_a_list_of_delegates_can_not_name_another_teams(crowd):
    crowd.lead.delegates.set(Thread._meta.apps.get_model("assistants", "Assistant").objects.exclude(slug="lead"))

    (call,) = tried(crowd, "secret")

    assert call.code == "DELEGATE_NOT_ALLOWED" and "secret" not in call.result.replace("“secret”", "")


def test_s27_a_visitors_conversation_has_nobody_to_call(crowd, client):
    guide = crowd.apes.assistants.get(slug="guide")
    type(guide).objects.filter(pk=guide.pk).update(tools=["invoke_assistant"])
    guide.profile.delete()
    crowd.apes.default_profile = crowd.lead.profile
    crowd.apes.save()
    crowd.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "x"}}]}, "No."])

    client.post("/c/", {"assistant": guide.pk, "text": "Ask the stock keeper"})
    run_all()

    call = last_turn(Thread.objects.get(owner=None)).calls.get()
    assert call.code == "TOOL_NOT_ALLOWED" and "stock" not in call.result
