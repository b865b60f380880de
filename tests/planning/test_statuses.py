"""What becomes of a step: running, reported, done with evidence, or one of the other ends (section 10, decision 6, L5)."""

import pytest

from assistants.llm import scripted
from assistants.models import Assistant, Domain
from assistants.turns import executors, lifecycle, questions
from assistants.turns.loop import run_turn
from subchats.delegation.deliver import SubChatResult
from subchats.models import Delegation, PlanStep
from subchats.planning.statuses import status_of
from tests.kit.turns import commit_hooks, last_turn, run_all
from tests.planning.team import call, codes, confirm, fan_out, invoke, plan, play, reply, step, steps_in


def statuses(thread):
    return [status for _, status in steps_in(thread)]


def begin(team, *script):
    """Opens a conversation and runs the lead alone, until it waits for its sub-chats."""
    team.script([*script, "Done."])
    thread = team.open()
    commit_hooks()
    run_turn(executors.rung.pop(0))
    return thread


def test_a_step_runs_while_its_specialist_works(team):
    thread = begin(team, plan(step(specialist="desk"), step("Another", specialist="desk")), invoke("desk"))

    assert statuses(thread) == ["running", "pending"]
    run_all()
    assert statuses(thread) == ["reported", "skipped"]


def test_decision_6_a_report_makes_a_step_reported_and_only_evidence_makes_it_done(team):
    thread = play(team, plan(step(specialist="desk")), invoke("desk"))

    assert statuses(thread) == ["reported"]

    thread = play(team, plan(step(specialist="desk")), invoke("desk"), confirm(1, "118 units"))

    assert PlanStep.objects.get(plan__turn__thread=thread).evidence == "118 units"
    assert statuses(thread) == ["done"]


@pytest.mark.parametrize("evidence", ["done", "It is done.", "  ", "erledigt", "Step 1 is complete"])
def test_decision_6_evidence_that_says_nothing_is_none(team, evidence):
    thread = play(team, plan(step(specialist="desk")), invoke("desk"), confirm(1, evidence))

    assert codes(thread)[-1] == "EVIDENCE_TRIVIAL" and statuses(thread) == ["reported"]


def test_decision_6_a_step_that_nobody_worked_on_is_not_confirmed(team):
    thread = play(team, plan(step(specialist="desk")), confirm(1), confirm(2), confirm(1, "It is not needed", skip=True))

    assert codes(thread) == ["", "STEP_NOT_REPORTED", "NO_SUCH_STEP", ""]
    assert statuses(thread) == ["skipped"]


def test_decision_6_the_planners_own_step_is_done_by_its_evidence(team):
    thread = play(team, plan(step("Say what to do")), confirm(1, "Named the owner"))

    assert statuses(thread) == ["done"]


def test_a_step_is_confirmed_once_and_the_same_word_twice_is_harmless(team):
    thread = play(team, plan(step("Own")), confirm(1, "118"), confirm(1, "118"), confirm(1, "119"), confirm(1, "No", skip=True))

    assert codes(thread) == ["", "", "", "STEP_CLOSED", "STEP_CLOSED"]
    assert PlanStep.objects.get().evidence == "118"


def test_one_report_may_fulfil_two_steps_of_the_same_specialist(team):
    thread = play(
        team, plan(step("A", specialist="desk"), step("B", specialist="desk")), invoke("desk"), confirm(1), confirm(2)
    )

    assert statuses(thread) == ["done", "done"]


def test_a_step_that_came_to_nothing_may_be_handed_out_again(team):
    desk = Assistant.objects.get(slug="desk")
    fails_once = [{"when": {"user": "Again"}, "reply": "118."}, {"reply": {"error": "MODEL_AUTH"}}]
    scripted.register(desk.profile.model, {"rules": fails_once})

    thread = play(team, plan(step(specialist="desk")), invoke("desk"), invoke("desk", "Again"))

    assert Delegation.objects.count() == 2 and statuses(thread) == ["reported"]
    assert last_turn(thread).unplanned_handovers == 0


@pytest.mark.parametrize(
    ("success", "reply_text", "error", "hand_back", "status"),
    [
        (True, "All of it", None, None, "reported"),
        (False, "", "[HANDED_BACK] field=- fix=x\n", {"needed": "x"}, "handed_back"),
        (False, "Half of it", "[IDLE_TIMEOUT] field=- fix=x\n", None, "incomplete"),
        (False, "", "[IDLE_TIMEOUT] field=- fix=x\n", None, "incomplete"),
        (False, "", "[BUDGET_OVERRUN] field=- fix=x\n", None, "incomplete"),
        (False, "", "[STOPPED] field=- fix=x\n", None, "incomplete"),
        (False, "", "[MODEL_AUTH] field=- fix=x\n", None, "failed"),
    ],
)
def test_the_end_of_a_sub_chat_is_the_end_of_its_step(success, reply_text, error, hand_back, status):
    result = SubChatResult(success, "sub_x", reply_text, [], 1, error)

    assert status_of(Delegation(hand_back=hand_back), result) == status


def test_in_a_fan_out_each_report_moves_its_own_step(team):
    thread = play(team, plan(step("Stock", specialist="count"), step("Returns", specialist="desk")), fan_out("desk", "count"))

    assert steps_in(thread) == [("Stock", "reported"), ("Returns", "reported")]
    works = PlanStep.objects.order_by("index").values_list("delegation__child__assistant__slug", flat=True)
    assert list(works) == ["count", "desk"]


def test_a_step_for_a_domain_is_begun_by_anybody_of_it_and_one_for_a_specialist_by_its_supervisor(team):
    domain = Domain.objects.get(slug="returns")
    head = team.assistant("head", domain=domain, script=["Both."] * 3)
    Domain.objects.filter(pk=domain.pk).update(supervisor=head)

    thread = play(team, plan(step("A", domain="returns"), step("B", specialist="desk")), invoke("head"), invoke("head", "B"))

    assert statuses(thread) == ["reported", "reported"] and last_turn(thread).unplanned_handovers == 0


def test_an_ad_hoc_agent_does_what_the_planner_would_do_itself(team):
    spawn = reply(call("spawn_agent", task="Count", prompt="Be brief.", tools=[]))
    team.script(
        {"rules": [{"when": {"system": "Be brief"}, "reply": "Hello."}, {"steps": [plan(step("Own")), spawn, "Done."]}]}
    )
    thread = team.open()
    run_all()

    assert statuses(thread) == ["reported"] and last_turn(thread).unplanned_handovers == 0


def test_report_l5_a_turn_that_ends_leaves_no_step_in_progress(team):
    thread = play(team, plan(step("A", specialist="desk"), step("B")), invoke("desk"))

    assert statuses(thread) == ["reported", "skipped"]


def test_report_l5_a_turn_that_is_stopped_leaves_no_step_in_progress(team):
    thread = begin(team, plan(step("A", specialist="desk"), step("B")), invoke("desk"))

    lifecycle.stop_turn(last_turn(thread).pk, by="Alice")
    run_all()

    assert statuses(thread) == ["incomplete", "skipped"]


def test_a_plan_goes_on_after_the_answer_to_a_question(team):
    ask = reply(call("ask_clarifying_question", question="Which week?", options=["46", "47"]))
    team.script([plan(step("A", specialist="desk")), ask, invoke("desk"), confirm(1), "Done."])
    thread = team.open()
    run_all()
    assert statuses(thread) == ["pending"]

    asked = last_turn(thread)
    questions.answer(asked.calls.get(name="ask_clarifying_question"), by=team.alice, chosen=["47"], text="")
    run_all()

    assert last_turn(thread) != asked and statuses(thread) == ["done"]
    assert last_turn(thread).unplanned_handovers == 0
