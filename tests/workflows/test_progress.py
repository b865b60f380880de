"""How far a workflow has come: recorded, seen, outstanding (J-36 to J-38, C19, W1, journey 11)."""

import json

import pytest

from assistants.conversations.forks import fork_thread
from assistants.models import Thread, ToolCall, Turn
from assistants.turns import lifecycle
from subchats.models import WorkflowRecord
from subchats.workflows.catalogue import get_workflow
from subchats.workflows.progress import progress_of
from subchats.workflows.records import record_step
from subchats.workflows.report import progress_as_data
from tests.kit.turns import last_turn, run_all
from tests.workflows.steps import COUNT, PROGRESS, TIME, WRONG, call, calls_of, record

DONE, SEEN, LEFT = "recorded_done", "inferred_done", "outstanding"


def play(ground, *steps, thread=None):
    """The lead takes these steps in one turn."""
    ground.script({"rules": [{"steps": [*steps, "Done."]}]})
    if thread is None:
        thread = ground.open()
    else:
        lifecycle.send_message(thread, author=ground.alice, text="Go on")
    run_all()
    return thread


def stand(ground, thread):
    return progress_of(get_workflow(ground.apes.pk, "banana-count"), thread)


def states(ground, thread):
    return [str(step.state) for step in stand(ground, thread).steps]


def test_j36_a_fresh_conversation_has_everything_before_it(troop):
    progress = stand(troop, play(troop, PROGRESS))

    assert [step.state for step in progress.steps] == [LEFT] * 4
    assert progress.next.node.id == "ask"


def test_j36_a_step_is_seen_done_once_its_tools_have_succeeded(troop):
    thread = play(troop, TIME, COUNT, PROGRESS)

    assert states(troop, thread) == [SEEN, SEEN, LEFT, LEFT]
    assert stand(troop, thread).next.node.id == "sign"


def test_j36_another_conversation_is_not_affected(troop):
    play(troop, TIME, COUNT, record("sign"))

    assert states(troop, play(troop, PROGRESS)) == [LEFT] * 4


def test_j36_a_call_that_failed_or_was_refused_does_not_count(troop):
    assert states(troop, play(troop, TIME, WRONG)) == [SEEN, LEFT, LEFT, LEFT]


@pytest.mark.parametrize("outcome", ["error", "refused", "stopped", "unknown", ""])
def test_j36_only_success_counts(troop, outcome):
    thread = play(troop, TIME)
    ToolCall.objects.filter(name="current_time").update(outcome=outcome)

    assert states(troop, thread) == [LEFT] * 4


def test_j36_a_result_that_the_guard_withheld_does_not_count(troop):
    thread = play(troop, TIME)
    ToolCall.objects.filter(name="current_time").update(guard={"action": "withheld"})

    assert states(troop, thread) == [LEFT] * 4


def test_c19_all_operations_of_a_step_must_have_succeeded(troop):
    troop.apes.workflows.update(
        nodes=[{"id": "both", "title": "Both", "owner": "lead", "operations": ["current_time", "calculate"]}]
    )

    thread = play(troop, TIME)
    assert states(troop, thread) == [LEFT]
    play(troop, COUNT, thread=thread)
    assert states(troop, thread) == [SEEN]


def test_c19_what_a_sub_chat_did_counts_for_the_whole_conversation_and_is_seen_from_everywhere(troop):
    troop.assistant("clock", tools=["current_time"], script=[TIME, "It is noon."])
    thread = play(
        troop, {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "clock", "task": "Tell the time"}}]}
    )

    child = Thread.objects.get(parent=thread)
    assert states(troop, thread) == states(troop, child) == [SEEN, LEFT, LEFT, LEFT]


def test_j37_a_record_beats_what_was_seen_in_both_directions(troop):
    thread = play(troop, TIME, record("ask", False, "The clock was slow"), record("count", True))

    assert states(troop, thread) == [LEFT, DONE, LEFT, LEFT]
    assert stand(troop, thread).steps[0].note == "The clock was slow"
    assert stand(troop, thread).next.node.id == "ask"


def test_j37_the_newest_record_counts(troop):
    thread = play(troop, record("sign", True), record("sign", False), record("sign", True, "Signed at noon"))

    assert states(troop, thread)[2] == DONE
    assert WorkflowRecord.objects.count() == 3


def test_j37_a_record_of_a_sub_chat_counts_for_the_whole_conversation(troop):
    tools = ["record_workflow_step"]
    troop.assistant("keeper", tools=tools, script=[record("sign"), "Signed."])
    thread = play(troop, call("invoke_assistant", assistant="keeper", task="Sign"))

    assert states(troop, thread)[2] == DONE
    assert WorkflowRecord.objects.get().root == thread


def test_j37_an_unknown_step_is_refused_and_nothing_is_stored(troop):
    thread = play(troop, record("fly"))

    (refused,) = calls_of(thread)
    assert (refused.outcome, refused.code) == ("refused", "NODE_UNKNOWN")
    assert "ask, count, sign, file" in refused.result
    assert not WorkflowRecord.objects.exists()


def test_j37_success_after_not_done_is_pointed_out_but_does_not_overrule_the_record(troop):
    thread = play(troop, TIME, record("ask", False), TIME)

    progress = stand(troop, thread)
    assert progress.steps[0].state == LEFT
    assert progress.steps[0].seen_since
    assert "record it" in progress_as_data(progress)["steps"][0]["hint"]


def test_j37_a_call_that_is_run_again_after_a_crash_records_once(troop):
    thread = play(troop, record("sign"))
    workflow = get_workflow(troop.apes.pk, "banana-count")

    record_step(thread, workflow, workflow.find("sign"), completed=True, call=calls_of(thread)[0])

    assert WorkflowRecord.objects.count() == 1


def test_j34_a_step_done_before_what_it_requires_shows_its_hazard(troop):
    progress = stand(troop, play(troop, COUNT))

    row = progress_as_data(progress)["steps"][1]
    assert row["state"] == SEEN
    assert "“Ask the clock”" in row["warning"] and "worth nothing" in row["warning"]
    assert progress.next.node.id == "ask"


def test_j35_the_next_step_of_a_person_comes_with_what_to_do_and_by_whom(troop):
    thread = play(troop, TIME, COUNT, PROGRESS)

    ahead = json.loads(calls_of(thread)[-1].result)["next"]
    assert (ahead["nodeId"], ahead["owner"], ahead["operations"]) == ("sign", "operator", [])
    assert ahead["note"].startswith("The keeper signs the sheet at the gate.")


def test_report_w1_a_retried_step_stays_one_step_and_its_attempts_are_counted(troop):
    thread = play(troop, TIME, WRONG)
    assert [step.state for step in stand(troop, thread).steps if step.node.id == "count"] == [LEFT]

    play(troop, COUNT, thread=thread)

    rows = [row for row in progress_as_data(stand(troop, thread))["steps"] if row["nodeId"] == "count"]
    assert rows == [{"nodeId": "count", "title": "Count", "state": SEEN, "note": "", "attempts": 2}]


def test_j38_journey_11_a_second_turn_goes_on_where_the_first_ended(troop):
    thread = play(troop, PROGRESS, TIME, COUNT, record("count", False, "Counted the wrong shelf"), PROGRESS)

    first, *_, last = (json.loads(each.result) for each in calls_of(thread) if each.name == "get_workflow_progress")
    assert first["next"]["nodeId"] == "ask"
    assert [row["state"] for row in last["steps"]] == [SEEN, LEFT, LEFT, LEFT]
    assert last["next"]["nodeId"] == "count"

    play(troop, PROGRESS, COUNT, record("count", True, "The right shelf: 42"), PROGRESS, thread=thread)

    seen, ahead = (json.loads(each.result) for each in calls_of(thread) if each.name == "get_workflow_progress")
    assert seen["next"]["nodeId"] == "count"
    assert [row["state"] for row in ahead["steps"]] == [SEEN, DONE, LEFT, LEFT]
    assert (ahead["next"]["nodeId"], ahead["next"]["owner"]) == ("sign", "operator")
    assert ToolCall.objects.filter(name="current_time").count() == 1
    assert last_turn(thread).state == Turn.State.DONE


def test_j37_a_copied_conversation_keeps_what_was_said_until_there_and_nothing_later(troop):
    thread = play(troop, TIME, record("ask", False, "The clock was slow"))
    play(troop, record("sign"), thread=thread)
    first = thread.turns.order_by("pk").first().messages.filter(role="assistant").order_by("sequence").last()

    fork = fork_thread(first, owner=troop.alice)

    assert states(troop, fork) == [LEFT, LEFT, LEFT, LEFT]
    assert stand(troop, fork).steps[0].note == "The clock was slow"
    assert states(troop, thread) == [LEFT, LEFT, DONE, LEFT]
