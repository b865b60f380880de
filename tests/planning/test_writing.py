"""write_plan: who may plan, what a step must fulfil, and that a plan only grows (J-01 to J-09, D31)."""

import pytest

from assistants.llm import scripted
from assistants.models import Assistant, Domain
from subchats.models import Plan, PlanStep
from tests.kit.turns import last_turn
from tests.planning.team import call, codes, confirm, invoke, plan, play, reply, result_of, step, steps_in


def offered(world, assistant):
    return {tool.name for tool in scripted.requests(assistant.profile.model)[0].tools}


def test_j01_whoever_may_delegate_is_offered_a_plan(team):
    play(team)

    assert {"write_plan", "confirm_step"} <= offered(team, team.lead)


def test_j01_without_anybody_to_delegate_to_there_is_no_plan(team):
    team.lead.tools = ["write_plan", "confirm_step", "invoke_assistant"]
    team.lead.save()
    Assistant.objects.exclude(pk=team.lead.pk).update(enabled=False)

    thread = play(team, plan(step()))

    assert offered(team, team.lead) == set()
    assert codes(thread) == ["NO_PLAN_NEEDED"] and not Plan.objects.exists()


def test_j01_without_a_tool_that_delegates_there_is_no_plan(team):
    team.lead.tools = ["write_plan", "current_time"]
    team.lead.save()

    play(team)

    assert offered(team, team.lead) == {"current_time"}


def test_j02_a_plan_at_the_root_belongs_to_the_turn(team):
    thread = play(team, plan())

    made = Plan.objects.get()
    assert (made.turn, made.domain, made.version) == (last_turn(thread), None, 1)


def test_j02_a_supervisors_plan_belongs_to_its_domain_and_leaves_the_turns_plan_alone(team):
    domain = Domain.objects.get(slug="returns")
    head = team.assistant("head", tools=["write_plan", "invoke_assistant"], domain=domain,
                          script=[plan(step("Ask the desk", specialist="desk")), "Planned."])  # fmt: skip

    thread = play(team, plan(step("Ask the head", specialist="head")), invoke("head"))

    below = Plan.objects.get(turn__thread__parent=thread)
    assert below.domain == head.domain
    assert steps_in(thread) == [("Ask the head", "reported")]


@pytest.mark.parametrize(("number", "code"), [(0, "BAD_ARGUMENTS"), (1, ""), (12, ""), (13, "BAD_ARGUMENTS")])
def test_j04_a_plan_has_one_to_twelve_steps(team, number, code):
    steps = [step(f"Part {letter} of the count") for letter in "abcdefghijklm"[:number]]

    thread = play(team, reply(call("write_plan", steps=steps)))

    assert codes(thread) == [code]
    assert PlanStep.objects.count() == (0 if code else number)


@pytest.mark.parametrize(
    ("wrong", "code", "field"),
    [
        ({"description": " ", "check": "One figure"}, "STEP_BLANK", "steps.2.description"),
        ({"description": "Count", "check": " \n"}, "STEP_BLANK", "steps.2.check"),
        ({"description": "Count", "check": "It is done."}, "CHECK_TRIVIAL", "steps.2.check"),
        ({"description": "Count the pallets", "check": "count the pallets!"}, "CHECK_TRIVIAL", "steps.2.check"),
        (step(specialist="nobody"), "SPECIALIST_UNKNOWN", "steps.2.specialist"),
        (step(domain="nowhere"), "DOMAIN_UNKNOWN", "steps.2.domain"),
        (step(specialist="desk", domain="stock"), "DOMAIN_MISMATCH", "steps.2.domain"),
    ],
)
def test_j05_j06_j07_j09_one_wrong_step_and_nothing_is_recorded(team, wrong, code, field):
    thread = play(team, plan(step("A good one"), wrong))

    (refused,) = last_turn(thread).calls.all()
    assert (refused.outcome, refused.code) == ("refused", code)
    assert f"field={field} " in refused.result and "Nothing was recorded" in refused.result
    assert not Plan.objects.exists()


@pytest.mark.parametrize("missing", ["description", "check"])
def test_j05_a_step_without_its_parts_is_refused(team, missing):
    steps = [{name: text for name, text in step().items() if name != missing}]

    thread = play(team, reply(call("write_plan", steps=steps)))

    assert codes(thread) == ["BAD_ARGUMENTS"] and not Plan.objects.exists()


def test_j06_a_step_without_a_specialist_is_the_planners_own(team):
    play(team, plan(step("Say what to do", "Names an owner and a date")))

    own = PlanStep.objects.get()
    assert (own.specialist, own.domain) == (None, None)


@pytest.mark.parametrize("domain", ["", "returns"])
def test_j07_the_domain_of_a_step_is_that_of_its_specialist(team, domain):
    play(team, plan(step(specialist="desk", domain=domain)))

    assert PlanStep.objects.get().domain.slug == "returns"


def test_j06_strangers_and_disabled_assistants_are_refused_in_the_words_for_invented_ones(team):
    team.assistant("theirs", tenant=team.bears, script=[])
    team.assistant("gone", enabled=False, script=[])
    names = ("theirs", "gone", "invented")

    thread = play(team, *(plan(step(specialist=name)) for name in names))

    told = [each.result.replace(name, "X") for each, name in zip(last_turn(thread).calls.order_by("round"), names, strict=True)]
    assert len(set(told)) == 1 and codes(thread) == ["SPECIALIST_UNKNOWN"] * 3


def test_j08_a_supervisor_may_not_plan_with_another_domains_specialist(team):
    team.assistant("head", tools=["write_plan", "invoke_assistant", "hand_back"], domain=Domain.objects.get(slug="returns"),
                   script=[plan(step("Ask the counter", specialist="count")), "No."])  # fmt: skip

    thread = play(team, invoke("head"))

    refused = thread.children.get().turns.get().calls.get()
    assert refused.code == "FOREIGN_DOMAIN"
    assert "Hand that step back to the root" in refused.result and "hand_back" in refused.result
    assert not Plan.objects.exists()


def test_j03_a_second_plan_appends_its_new_steps(team):
    first, second = step("First"), step("Second")

    thread = play(team, plan(first), plan(second))

    assert [name for name, _ in steps_in(thread)] == ["First", "Second"]
    assert Plan.objects.get().version == 2
    assert [each["number"] for each in result_of(thread, 1)["steps"]] == [1, 2]


def test_j03_a_second_plan_may_repeat_what_exists_word_for_word(team):
    first, second = step("First"), step("Second")

    thread = play(team, plan(first), plan(first, second), plan(first, second))

    assert codes(thread) == ["", "", ""]
    assert [name for name, _ in steps_in(thread)] == ["First", "Second"]
    assert Plan.objects.get().version == 2


@pytest.mark.parametrize(
    "rewrite",
    [
        [step("First", "Another check for it")],
        [step("First", specialist="desk"), step("Third")],
        [step("Second"), step("Third")],
        [step("Second"), step("First")],
        [step("Rewritten"), step("Second")],
    ],
)
def test_j03_a_step_that_exists_is_never_changed_left_out_or_moved(team, rewrite):
    thread = play(team, plan(step("First"), step("Second")), plan(*rewrite))

    assert codes(thread) == ["", "PLAN_FIXED"]
    assert [name for name, _ in steps_in(thread)] == ["First", "Second"]
    assert Plan.objects.get().version == 1


def test_j03_j04_all_steps_together_are_twelve_at_most(team):
    ten = [step(f"Part {letter} of the count") for letter in "abcdefghij"]
    three = [step(f"Part {letter} of the rest") for letter in "klm"]

    thread = play(team, plan(*ten), plan(*three))

    assert codes(thread) == ["", "PLAN_TOO_LONG"] and PlanStep.objects.count() == 10


def test_report_d31_two_plans_in_one_reply_become_one(team):
    thread = play(team, reply(call("write_plan", steps=[step("First")]), call("write_plan", steps=[step("Second")])))

    assert codes(thread) == ["", ""]
    assert [name for name, _ in steps_in(thread)] == ["First", "Second"]


def test_report_d31_the_same_plan_twice_in_one_reply_is_written_once(team):
    thread = play(team, reply(*[call("write_plan", steps=[step("First")])] * 2))

    assert codes(thread) == ["", ""] and [name for name, _ in steps_in(thread)] == ["First"]


def test_report_l1_l3_the_plan_is_told_anew_at_every_step(team):
    play(team, plan(step("Count the returns", specialist="desk")), invoke("desk"), confirm(1))

    told = [each.conversation().system for each in scripted.requests(team.lead.profile.model)]
    assert "Count the returns" not in told[0]
    assert "1. [pending] Count the returns (desk, domain returns)" in told[1]
    assert "[reported]" in told[2] and "confirm_step" in told[2]
    assert "[done]" in told[3] and "Evidence: 118 units in week 47" in told[3]
