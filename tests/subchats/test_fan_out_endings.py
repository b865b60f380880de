"""However the children of a fan-out end, the call is settled once and no report is lost."""

import pytest

from assistants.errors import LeaseLost
from assistants.models import ToolCall, Turn
from assistants.models.definition import definition_of
from assistants.rendering import fragments
from assistants.tools.context import ToolContext
from assistants.turns import executors, lifecycle, questions
from assistants.turns.sweeper import sweep
from subchats.models import Delegation
from subchats.planning.admission import Wanted, hand_over
from tests.kit.turns import commit_hooks, last_turn, replies, run_all
from tests.subchats.fan_outs import (
    call_of,
    children,
    fan_out,
    item,
    nothing_was_opened,
    opened,
    plan,
    reports_of,
    run_turn_of,
    shared_out,
    step,
)

ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which mailbox?", "options": ["in", "out"]}}]}


def test_j11_a_failure_costs_only_its_own_report(ground):
    ground.assistant("good", script=["Fine."])
    ground.assistant("bad", script=[{"error": "MODEL_AUTH"}])
    ground.assistant("back", tools=["hand_back"], script=[{"calls": [{"name": "hand_back", "arguments": {}}]}])

    thread = shared_out(ground, item("bad"), item("good"), item("back"))

    bad, good, back = reports_of(thread)
    assert good["success"] and good["reply"] == "Fine." and good["error"] is None
    assert not bad["success"] and bad["error"].startswith("[MODEL_AUTH]")
    assert not back["success"] and back["error"].startswith("[HANDED_BACK]")
    assert call_of(thread).outcome == "ok"


def test_j11_a_fan_out_from_which_nobody_reported_has_failed(ground):
    ground.assistant("bad", script=[{"error": "MODEL_AUTH"}])

    thread = shared_out(ground, item("bad", "one"), item("bad", "two"))

    assert (call_of(thread).outcome, call_of(thread).code) == ("error", "NO_REPORT")
    assert len(reports_of(thread)) == 2 and replies(thread)[-1] == "Done."


def test_j11_one_that_is_stopped_leaves_the_others_alone(three):
    thread = opened(three, fan_out(item("a"), item("b")))
    step()

    lifecycle.stop_turn(last_turn(children(thread)[0]).pk, by="alice")
    run_all()

    first, second = reports_of(thread)
    assert "[STOPPED]" in first["error"] and second["reply"] == "from b"


def test_report_t7_a_stop_of_the_caller_stops_all_of_them_and_is_final(three):
    thread = opened(three, fan_out(item("a"), item("b"), item("c")))
    step()
    run_turn_of(children(thread)[0])

    for _ in range(2):
        lifecycle.stop_turn(last_turn(thread).pk, by="alice")
    run_all()

    assert [last_turn(child).state for child in children(thread)] == ["done", "stopped", "stopped"]
    assert (call_of(thread).outcome, last_turn(thread).state) == ("stopped", "stopped")
    assert thread.messages.filter(role="tool").count() == 1
    assert Delegation.objects.get(position=0).report["reply"] == "from a"


def test_j11_one_that_asks_the_person_keeps_the_reports_of_the_others(three):
    three.assistant("asks", tools=["ask_clarifying_question"], script=[ASK, "Three letters."])
    thread = shared_out(three, item("asks"), item("a"))
    assert call_of(thread).is_open and Delegation.objects.get(position=1).report["reply"] == "from a"

    questions.answer(last_turn(children(thread)[0]).calls.get(), by=three.alice, chosen=["in"], text="")
    run_all()

    assert [each["reply"] for each in reports_of(thread)] == ["Three letters.", "from a"]


def test_report_d2_one_that_is_continued_later_changes_nothing_of_the_result(three):
    three.assistant("asks", tools=["ask_clarifying_question"], script=[ASK, "Three letters."])
    thread = shared_out(three, item("asks"), item("a"))
    asks, done = children(thread)

    lifecycle.send_message(done, author=three.alice, text="More?")
    run_all()
    assert replies(done) == ["from a", "a again"] and last_turn(done).root_id is None
    questions.answer(last_turn(asks).calls.get(), by=three.alice, chosen=["in"], text="")
    run_all()

    assert [each["reply"] for each in reports_of(thread)] == ["Three letters.", "from a"]


def test_report_d18_what_a_crash_left_undelivered_is_found_by_the_sweeper(three):
    thread = opened(three, fan_out(item("a"), item("b")))
    step()
    first, second = children(thread)
    # A process that died between the end of the second child and its report.
    run_turn_of(first)
    run_turn_of(second)
    Delegation.objects.filter(child=second).update(returned_at=None, report=None)
    ToolCall.objects.filter(turn=last_turn(thread)).update(state="open", outcome="", result="")
    Turn.objects.filter(thread=thread).update(state=Turn.State.WAITING, round=0)
    executors.rung.clear()

    sweep()
    run_all()

    assert [each["reply"] for each in reports_of(thread)] == ["from a", "from b"] and replies(thread)[-1] == "Done."


def test_f08_a_call_that_is_tried_again_keeps_the_sub_chats_it_has(three):
    thread = opened(three, fan_out(item("a"), item("b")))
    step()
    call, turn = call_of(thread), last_turn(thread)
    context = ToolContext(call=call, turn=turn, thread=thread, definition=definition_of(thread))

    hand_over(context, [Wanted(task="x", assistant="nobody")] * 2, fan_out=True)

    assert len(children(thread)) == 2


def test_report_d13_a_turn_that_was_stopped_meanwhile_hands_nothing_out(three):
    thread = opened(three, fan_out(item("a"), item("b")))
    commit_hooks()
    turn = last_turn(thread)
    call = ToolCall.objects.create(turn=turn, round=0, index=0, name="spawn_agents")
    context = ToolContext(call=call, turn=turn, thread=thread, definition=definition_of(thread))
    lifecycle.stop_turn(turn.pk, by="alice")

    with pytest.raises(LeaseLost):
        hand_over(context, [Wanted(task="x", assistant="a"), Wanted(task="y", assistant="b")], fan_out=True)

    assert nothing_was_opened()


def test_report_t3_a_stop_in_the_middle_of_a_tree_leaves_nobody_at_work_and_nothing_downstream_begins(ground):
    ground.assistant("leaf", script=["from the leaf"])
    ground.assistant("mid", tools=["spawn_agents"], script=[fan_out(item("leaf", "1"), item("leaf", "2")), "Mid."])
    thread = opened(ground, fan_out(item("mid", "1"), item("mid", "2")))
    step()
    first, second = children(thread)
    plan(first)
    run_turn_of(first)

    lifecycle.stop_turn(last_turn(thread).pk, by="alice")
    run_all()

    assert set(Turn.objects.values_list("state", flat=True)) == {Turn.State.STOPPED}
    assert not ToolCall.objects.filter(state="open").exists() and not children(second)
    html = str(fragments.draw_log(fragments.viewpoint(thread, ground.alice)))
    assert html.count('data-state="stopped"') >= 2 and 'data-state="running"' not in html
