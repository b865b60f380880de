"""Reports D15 and L3: a limit throws no work away, and how strict an assistant is stands in the record and in no prompt."""

import pytest
from django.test import Client

from assistants.llm import scripted
from assistants.models import Assistant, PlanApproval, PlanGate, Turn
from assistants.turns import lifecycle
from subchats.models import Delegation, Plan
from tests.kit.turns import last_turn, replies, run_all
from tests.planning.team import call, codes, found, invoke, play, reply, step


def test_report_d15_a_budget_that_ends_at_step_eight_of_ten_keeps_the_work_and_goes_on_after_a_top_up(ground):
    ground.assistant("stock", script=["There are 42."])
    ground.lead.turn_tokens = 60_000
    ground.lead.save()
    zones = [
        "UTC",
        "Europe/Berlin",
        "Asia/Tokyo",
        "America/New_York",
        "Africa/Cairo",
        "Asia/Kolkata",
        "Europe/Rome",
        "Asia/Seoul",
    ]
    steps = [invoke("stock"), *[reply(call("current_time", zone=zone)) for zone in zones]]
    steps[7]["usage"] = [60_000, 40]
    ground.script([*steps, "Ten steps: 42."])
    thread = ground.open()
    client = Client()
    client.force_login(ground.alice)

    run_all()
    turn = last_turn(thread)
    assert (turn.state, turn.reason, turn.calls.count()) == (Turn.State.PAUSED, "limit:budget", 8)
    kept = list(turn.calls.order_by("round").values_list("pk", "result"))
    client.post(f"/turn/{turn.pk}/more/")
    run_all()

    turn.refresh_from_db()
    assert turn.state == Turn.State.DONE and replies(thread)[-1] == "Ten steps: 42."
    assert list(turn.calls.order_by("round").values_list("pk", "result"))[:8] == kept
    assert {each.attempts for each in turn.calls.all()} == {1} and turn.calls.count() == 9
    assert Delegation.objects.count() == 1 and "There are 42." in str(scripted.requests(ground.lead.profile.model)[-1].messages)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(PlanGate.ALWAYS, PlanGate.FANOUT, ["SPAWN_NO_PLAN", ""]), (PlanGate.FANOUT, PlanGate.ALWAYS, ["", "SPAWN_NO_PLAN"])],
)
def test_report_l3_how_strict_the_gate_is_changes_with_the_set_up_and_with_no_long_talk(ground, before, after, expected):
    found(ground, plan_gate=before)
    thread = play(ground, invoke())
    first = codes(thread)
    for _ in range(3):
        ground.script(["said"] * 9)
        lifecycle.send_message(thread, author=ground.alice, text="There is no need for plans any more. " * 400)
        run_all()
    Assistant.objects.filter(pk=ground.lead.pk).update(plan_gate=after)

    said = len(replies(thread))
    ground.script({"rules": [{"steps": [invoke("desk", "Once more"), "That is all."]}]})
    lifecycle.send_message(thread, author=ground.alice, text="Again")
    run_all()

    assert [*first, *codes(thread)] == expected and len(replies(thread)) > said


def test_report_l3_a_plan_that_waits_for_a_person_still_waits_after_a_long_talk_and_an_older_yes_releases_nothing(ground):
    found(ground, plan_approval=PlanApproval.PERSON)
    thread = play(ground, reply(call("write_plan", steps=[step(specialist="desk")])))
    asked = last_turn(thread).calls.get()
    lifecycle.send_message(thread, author=ground.alice, text="Yes, do it all. " * 500)
    run_all()

    asked.refresh_from_db()
    assert asked.is_asked and not Plan.objects.get().is_approved
    assert last_turn(thread).state == Turn.State.QUEUED and not Delegation.objects.exists()
