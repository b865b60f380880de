"""Journey 11: a workflow over two turns, with a step that a person does."""

import json

from subchats.models import WorkflowRecord
from tests.journeys.story import Story, lead_with, section
from tests.kit.browsers import HTMX, signed_in
from tests.kit.turns import last_turn
from tests.workflows.steps import COUNT, PROGRESS, TIME, TOOLS, banana_count, call, record


def progress(calls):
    return [json.loads(each.result) for each in calls if each.name == "get_workflow_progress"]


def states(told):
    return [row["state"] for row in told["steps"]]


def test_journey_11_a_workflow_is_taken_up_where_it_was_left_and_waits_for_a_person(ground):
    """J-32 to J-38: seen done, marked not done again, resumed in the next turn, and a to-do for a human at its end."""
    banana_count(ground.apes)
    lead_with(ground, "current_time", "calculate", *TOOLS)
    find, whole = call("find_graph_workflow", task="Count the bananas"), call("get_graph_workflow", workflowId="banana-count")
    wrong = record("count", False, "The wrong shelf")
    first = [find, whole, TIME, COUNT, PROGRESS, wrong, PROGRESS, "I have to count again."]
    ground.script({"rules": [{"steps": first}]})
    story = Story(ground, "How many bananas are left?")

    page = story.rest()

    seen, marked = progress(story.calls())
    assert states(seen) == ["inferred_done", "inferred_done", "outstanding", "outstanding"]
    assert seen["next"]["nodeId"] == "sign"
    assert states(marked) == ["inferred_done", "outstanding", "outstanding", "outstanding"]
    assert marked["next"]["nodeId"] == "count" and "The wrong shelf" in section(page, "rail")

    ground.script({"rules": [{"steps": [PROGRESS, COUNT, record("count", True, "42"), PROGRESS, "Now somebody has to sign."]}]})
    page = story.say("Go on")

    resumed, ahead = progress(story.calls())
    assert resumed["next"]["nodeId"] == "count" and [each.name for each in story.calls()].count("current_time") == 0
    assert (ahead["next"]["nodeId"], ahead["next"]["owner"]) == ("sign", "operator")
    assert "a person does this" in section(page, "rail") and "The keeper signs" in section(page, "rail")

    tick = {"workflow": "banana-count", "node": "sign", "completed": "1"}
    assert signed_in(ground.alice, **HTMX).post(f"/c/{story.thread.chat_id}/workflow/", tick).status_code == 204
    assert WorkflowRecord.objects.get(node="sign").user == ground.alice
    story.compare()
    ground.script({"rules": [{"steps": [PROGRESS, "Only the file is left."]}]})
    story.say("Signed")
    assert progress(story.calls())[0]["next"]["nodeId"] == "file" and last_turn(story.thread).state == "done"
