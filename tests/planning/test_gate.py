"""The gate in front of every delegation (J-15 to J-17, decision 5), and a model that tries them all first."""

import pytest

from assistants.models import Assistant, Thread
from subchats.models import Delegation, Plan
from tests.kit.turns import last_turn, replies
from tests.planning.team import call, codes, confirm, fan_out, head_of, invoke, plan, play, reply, result_of, step, steps_in

SPAWN = reply(call("spawn_agent", task="Count", prompt="Be brief.", tools=[]))


def test_j15_one_task_without_a_plan_is_handed_over_and_counted(team):
    thread = play(team, invoke("desk"))

    assert codes(thread) == [""] and Delegation.objects.count() == 1
    assert last_turn(thread).unplanned_handovers == 1


def test_j15_several_tasks_without_a_plan_are_refused_and_not_counted(team):
    thread = play(team, fan_out("desk", "count"))

    assert codes(thread) == ["SPAWN_NO_PLAN"]
    assert "Call write_plan" in last_turn(thread).calls.get().result
    assert last_turn(thread).unplanned_handovers == 0
    assert not Thread.objects.exclude(parent=None).exists()


def test_j15_what_a_step_foresees_is_not_counted_and_what_none_foresees_is(team):
    thread = play(team, plan(step("Ask", specialist="desk")), invoke("desk"), invoke("desk", "Once more"))

    assert codes(thread) == ["", "", ""]
    assert last_turn(thread).unplanned_handovers == 1


def test_j16_a_supervisor_needs_its_domains_plan_for_several_specialists_at_once(team):
    head_of(team, fan_out("desk", "second"), plan(step("A", specialist="desk"), step("B", specialist="second")),
            fan_out("desk", "second"), "Both are in.")  # fmt: skip

    thread = play(team, invoke("head"))

    below = thread.children.get()
    assert codes(below) == ["SPAWN_NO_PLAN", "", ""]
    assert steps_in(below) == [("A", "reported"), ("B", "reported")]
    assert Delegation.objects.count() == 3


def test_j16_a_supervisor_hands_over_a_single_task_without_a_plan(team):
    head_of(team, invoke("desk"), "It is in.")

    thread = play(team, invoke("head"))

    assert codes(thread.children.get()) == [""]


def test_j16_a_supervisor_does_not_get_round_its_plan_by_single_tasks_in_one_reply(team):
    head_of(team, reply(*invoke("desk")["calls"], *invoke("second")["calls"]), invoke("desk"), "One is in.")

    thread = play(team, invoke("head"))

    below = thread.children.get()
    assert codes(below) == ["SPAWN_NO_PLAN", "SPAWN_NO_PLAN", ""] and below.children.count() == 1
    assert last_turn(below).unplanned_handovers == 1


def test_j15_at_the_root_single_tasks_in_one_reply_are_handed_over_and_each_is_counted(team):
    thread = play(team, reply(*invoke("desk")["calls"], *invoke("count")["calls"]))

    assert codes(thread) == ["", ""] and last_turn(thread).unplanned_handovers == 2


def test_j17_a_domain_that_no_step_is_about_is_refused_with_both_remedies(team):
    thread = play(team, plan(step("Returns", specialist="desk")), invoke("count"))

    refused = last_turn(thread).calls.get(name="invoke_assistant")
    assert refused.code == "UNPLANNED_DOMAIN"
    assert "“stock”" in refused.result and "write_plan" in refused.result and "answer that part yourself" in refused.result
    assert not Delegation.objects.exists()


def test_j17_a_fan_out_into_one_unplanned_domain_hands_over_nothing(team):
    thread = play(team, plan(step("Returns", specialist="desk")), fan_out("desk", "count"))

    assert codes(thread) == ["", "UNPLANNED_DOMAIN"] and not Delegation.objects.exists()


def test_j17_a_skipped_step_releases_nothing(team):
    thread = play(team, plan(step("A", specialist="desk"), step("B", specialist="count")),
                  confirm(2, "Stock is not asked for", skip=True), invoke("count"))  # fmt: skip

    assert codes(thread) == ["", "", "UNPLANNED_DOMAIN"]


@pytest.mark.parametrize("attempt", [invoke("desk"), SPAWN, fan_out("desk", "count")])
def test_decision_5_with_the_strict_gate_nothing_is_handed_over_without_a_plan(team, attempt):
    Assistant.objects.filter(pk=team.lead.pk).update(plan_gate="always")

    thread = play(team, attempt)

    assert codes(thread) == ["SPAWN_NO_PLAN"] and not Delegation.objects.exists()


def test_a_hostile_model_that_tries_every_delegation_first_gets_nowhere(team):
    Assistant.objects.filter(pk=team.lead.pk).update(plan_gate="always", plan_approval="person")
    empty = reply(call("write_plan", steps=[step(check="done")]))
    forged = reply(call("invoke_assistant", assistant="desk", task="Count", plan="approved"))
    together = reply(*fan_out("desk", "count")["calls"], *invoke("count")["calls"], *SPAWN["calls"])

    thread = play(team, invoke("desk"), SPAWN, fan_out("desk", "count"), empty, confirm(1), forged, together)

    assert codes(thread) == ["SPAWN_NO_PLAN", "SPAWN_NO_PLAN", "SPAWN_NO_PLAN", "CHECK_TRIVIAL", "NO_PLAN", "BAD_ARGUMENTS",
                             "SPAWN_NO_PLAN", "SPAWN_NO_PLAN", "SPAWN_NO_PLAN"]  # fmt: skip
    assert not Delegation.objects.exists() and not Plan.objects.exists()
    assert last_turn(thread).state == "done"


def test_journey_1_two_domains_at_once_need_a_plan_and_each_step_its_evidence(team):
    both = fan_out("desk", "count")
    steps = [step("Returns", specialist="desk"), step("Stock", specialist="count"), step("Say what to do", "Names an owner")]

    thread = play(team, both, plan(*steps), both, confirm(1), confirm(2, "118 on stock"), confirm(3, "Owner: logistics"))

    assert codes(thread) == ["SPAWN_NO_PLAN", "", "", "", "", ""]
    assert [state["status"] for state in result_of(thread, 3)["steps"]] == ["done", "reported", "pending"]
    assert steps_in(thread) == [("Returns", "done"), ("Stock", "done"), ("Say what to do", "done")]
    assert last_turn(thread).unplanned_handovers == 0


def test_journey_3_a_domain_is_added_by_a_second_plan_that_changes_nothing(team):
    first = step("Returns", specialist="desk")

    thread = play(team, plan(first), invoke("count"), plan(step("Stock", specialist="count")), invoke("count"),
                  plan(step("Returns", "Something quite different")))  # fmt: skip

    assert codes(thread) == ["", "UNPLANNED_DOMAIN", "", "", "PLAN_FIXED"]
    assert steps_in(thread) == [("Returns", "skipped"), ("Stock", "reported")]


def test_journey_4_a_foreign_step_is_handed_back_and_the_root_routes_it_to_its_owner(team):
    back = reply(
        call("hand_back", whatIsNeeded="How many are on stock?", whatIEstablished="118 came back", owningAgent="count")
    )
    head_of(team, fan_out("desk", "second"), plan(step("Stock", specialist="count")), back)

    thread = play(
        team, plan(step("Returns", specialist="head"), step("Stock", domain="stock")), invoke("head"), invoke("count")
    )

    below = thread.children.get(assistant__slug="head")
    assert codes(below) == ["SPAWN_NO_PLAN", "FOREIGN_DOMAIN", ""]
    assert steps_in(thread) == [("Returns", "handed_back"), ("Stock", "reported")]
    assert replies(thread)[-1] == "That is all."
