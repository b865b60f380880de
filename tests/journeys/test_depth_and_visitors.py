"""Journeys 12 and 15: how deep a team goes, and who gets no team at all."""

import json
import re

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.test import Client

from assistants.llm import scripted
from assistants.models import Assistant, Thread
from subchats.models import Delegation
from tests.journeys.story import Story, card, invoke, lead_with, reply
from tests.kit.turns import last_turn, replies, run_all


def test_journey_12_three_levels_work_and_the_fourth_is_refused_before_anything_exists(ground):
    """Section 9, T-11: ids say whose child a chat is, links lead up, and the refusal is told and shown."""
    ground.assistant("abyss", script=["never"])
    ground.assistant("deep", tools=["invoke_assistant"], script=[reply(invoke("abyss")), "I looked myself."])
    ground.assistant("middle", tools=["invoke_assistant"], script=[reply(invoke("deep")), "Deep says so."])
    lead_with(ground, "invoke_assistant")
    ground.script([reply(invoke("middle")), "All know."])
    story = Story(ground)

    story.rest()

    (middle,) = story.children()
    deep = Thread.objects.get(parent=middle)
    assert Thread.objects.count() == 3 and Delegation.objects.count() == 2
    for child, parent in ((middle, story.thread), (deep, middle)):
        assert re.fullmatch(rf"sub_{re.escape(parent.chat_id)}_\w+", child.chat_id), child.chat_id
        assert child.root == story.thread and child.parent_message.thread == parent
        assert last_turn(child).root == last_turn(story.thread)
    refused = last_turn(deep).calls.get()
    assert refused.code == "DEPTH_EXCEEDED" and "abyss" not in [each.assistant.slug for each in Thread.objects.all()]
    inside = story.compare(deep)
    assert "refused" in card(inside, refused)
    assert [replies(each)[-1] for each in (deep, middle, story.thread)] == ["I looked myself.", "Deep says so.", "All know."]
    assert json.loads(story.calls()[0].result)["sub_chat_id"] == middle.chat_id


def test_journey_15_an_assistant_for_visitors_gets_no_team_by_any_way(ground):
    """T-03, decision 10: the start-up check fails, the tool isn't offered, and a forged call makes no thread."""
    guide = ground.assistant(
        "guide", public=True, tools=["current_time"], script=[reply(invoke("lead")), "Then I say it myself."]
    )
    call_command("check")
    Assistant.objects.filter(pk=guide.pk).update(tools=["current_time", "invoke_assistant"])

    with pytest.raises(SystemCheckError, match="A public assistant can't have invoke_assistant"):
        call_command("check")

    visitor = Client()
    visitor.get("/")
    visitor.post("/c/", {"assistant": guide.pk, "text": "Ask your colleagues", "client_key": "v1"})
    thread = Thread.objects.get(assistant=guide)
    run_all()
    refused = last_turn(thread).calls.get()
    assert (refused.outcome, refused.code) == ("refused", "TOOL_NOT_ALLOWED")
    assert not Thread.objects.exclude(parent=None).exists() and not Delegation.objects.exists()
    assert "invoke_assistant" not in scripted.requests(guide.profile.model)[0].conversation().tools
    assert replies(thread)[-1] == "Then I say it myself."
    assert "Then I say it myself." in visitor.get(f"/c/{thread.chat_id}/").content.decode()
