"""Journeys 1 to 4: nobody hands out work without a plan, and whoever is not concerned hands it back."""

import json

from assistants.models import Thread, Turn
from assistants.turns import executors
from subchats.models import Delegation, Plan, PlanStep
from tests.journeys.story import PLANNING, Story, call, card, domain, fan_out, invoke, lead_with, reply, section, step
from tests.kit.turns import last_turn, replies

RETURNS = step("Returns of both weeks", "One figure per week", specialist="desk")
STOCK = step("Stock of the worst", "A figure for B12345", specialist="count")


def team(ground, **lead):
    """Two domains with a specialist each, and a lead that may plan and hand out."""
    for slug, specialist, says in (("returns", "desk", "31 and 118 units."), ("stock", "count", "540 pieces left.")):
        ground.assistant(specialist, domain=domain(ground, slug), script={"steps": [says], "forever": True})
    lead_with(ground, *PLANNING)


def statuses(thread):
    return list(PlanStep.objects.filter(plan__turn__thread=thread).order_by("index").values_list("status", flat=True))


def test_journey_01_two_domains_are_planned_asked_side_by_side_and_confirmed_with_evidence(ground):
    """J-01 to J-11, J-15: refused without a plan, then both at once, then each step done by what its report says."""
    team(ground)
    both, decide = reply(fan_out("desk", "count")), step("Say what to do", "Names an owner")
    confirmed = [reply(call("confirm_step", index=index, evidence=said)) for index, said in ((1, "31, then 118"), (2, "540"))]
    last = reply(call("confirm_step", index=3, evidence="Owner: purchasing"))
    ground.script([both, reply(call("write_plan", steps=[RETURNS, STOCK, decide])), both, *confirmed, last, "Stop the sale."])
    story = Story(ground)

    story.one_runner()

    refused, _, waiting = story.calls()
    assert refused.code == "SPAWN_NO_PLAN" and waiting.is_open
    assert {Turn.objects.get(pk=pk).thread.assistant.slug for pk in executors.rung} == {"desk", "count"}
    assert statuses(story.thread) == ["running", "running", "pending"]
    assert "working" in card(story.compare(), waiting)

    page = story.rest()
    waiting.refresh_from_db()
    reports = json.loads(waiting.result)["reports"]
    assert [(each["label"], each["reply"]) for each in reports] == [
        ("Desk", "31 and 118 units."),
        ("Count", "540 pieces left."),
    ]
    seen = [[each["status"] for each in json.loads(one.result)["steps"]] for one in story.calls()[3:]]
    assert seen == [["done", "reported", "pending"], ["done", "done", "pending"], ["done", "done", "done"]]
    assert "3 of 3" in section(page, "plan-section") and "Evidence: 31, then 118" in section(page, "plan-section")
    assert "plan" in card(page, refused)
    assert replies(story.thread)[-1] == "Stop the sale." and len(story.children()) == 2


def test_journey_02_one_task_without_a_plan_is_done_and_shown_as_unplanned(ground):
    """J-15: a single hand-over runs at once; the panel and the record count it."""
    team(ground)
    ground.script([reply(invoke("desk")), "It was the zip."])
    story = Story(ground)

    page = story.rest()

    assert story.codes() == [""] and last_turn(story.thread).unplanned_handovers == 1
    assert "1 handover outside of a plan" in section(page, "plan-section")
    assert not Plan.objects.exists() and replies(story.thread)[-1] == "It was the zip."


def test_journey_03_an_unplanned_domain_waits_for_a_second_plan_that_changes_nothing(ground):
    """J-04, J-05, J-17: a plan grows at its end only; what it names opens a domain, what it does not stays shut."""
    team(ground)
    changed = call("write_plan", steps=[step("Returns of both weeks", "Any figure will do", specialist="desk")])
    ground.script([
        reply(call("write_plan", steps=[RETURNS])), reply(invoke("count")), reply(call("write_plan", steps=[STOCK])),
        reply(invoke("count")), reply(changed), "540 are left.",
    ])  # fmt: skip
    story = Story(ground)

    page = story.rest()

    assert story.codes() == ["", "UNPLANNED_DOMAIN", "", "", "PLAN_FIXED"]
    assert "One figure per week" in section(page, "plan-section") and "Any figure" not in section(page, "plan-section")
    assert [child.assistant.slug for child in story.children()] == ["count"]
    assert statuses(story.thread) == ["skipped", "reported"]
    assert "left open" in section(page, "plan-section")


def test_journey_04_a_supervisor_plans_its_own_domain_and_hands_back_what_is_not_its_own(ground):
    """J-06, J-16, J-20: refused twice for two reasons, then back to the root, which asks the real owner."""
    team(ground)
    ground.assistant("second", domain=domain(ground, "returns"), script=["Nothing new."])
    back = call("hand_back", whatIsNeeded="How many are left?", whatIEstablished="118 came back", owningAgent="count")
    foreign = call("write_plan", steps=[step("Stock", "A figure", specialist="count")])
    head = ground.assistant(
        "head", domain=domain(ground, "returns"), tools=["write_plan", "invoke_assistant", "spawn_agents", "hand_back"],
        script=[reply(fan_out("desk", "second")), reply(foreign), reply(back), "never"],
    )  # fmt: skip
    whole = call(
        "write_plan", steps=[step("Returns", "A figure", specialist="head"), step("Stock", "A figure", domain="stock")]
    )
    ground.script([reply(whole), reply(invoke("head")), reply(invoke("count")), "118 back, 540 left."])
    story = Story(ground)

    page = story.rest()

    below, owner = story.children()
    gate, foreign_step, _ = last_turn(below).calls.order_by("round")
    assert (gate.code, foreign_step.code) == ("SPAWN_NO_PLAN", "FOREIGN_DOMAIN")
    assert "hand_back" in foreign_step.result and "hand_back" in story.told(head)
    handed = json.loads(story.calls()[1].result)
    assert handed["success"] is False and "Call count now" in handed["error"] and "118 came back" in handed["error"]
    assert owner.assistant.slug == "count" and statuses(story.thread) == ["handed_back", "reported"]
    assert "handed back" in card(page, story.calls()[1])
    assert replies(story.thread)[-1] == "118 back, 540 left."
    assert Delegation.objects.count() == 2 and Thread.objects.count() == 3
