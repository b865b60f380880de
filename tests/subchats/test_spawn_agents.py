"""Several tasks handed out at once: all or none, side by side, every report labelled and in its place (J-11)."""

import json

import pytest

from assistants.llm import scripted
from assistants.models import Domain, Turn
from assistants.models.definition import definition_of
from assistants.tools.registry import find_tool
from assistants.turns import executors
from subchats.models import Delegation, PlanStep
from tests.kit.turns import last_turn, replies, run_all
from tests.subchats.fan_outs import (
    agent,
    call_of,
    children,
    fan_out,
    item,
    nothing_was_opened,
    opened,
    reports_of,
    run_turn_of,
    shared_out,
    step,
)

SIX = {"success", "sub_chat_id", "reply", "tools_used", "iterations", "error"}


def test_j11_all_reports_come_back_together_in_the_order_of_the_request(three):
    thread = opened(three, fan_out(item("c", label="third"), item("a", "Count the parts"), item("b", label="second")))
    step()
    for child in reversed(children(thread)):
        run_turn_of(child)
    run_all()

    found = reports_of(thread)
    assert [each["label"] for each in found] == ["third", "Count the parts", "second"]
    assert [each["reply"] for each in found] == ["from c", "from a", "from b"]
    assert all(set(each) == SIX | {"label"} for each in found)
    assert call_of(thread).outcome == "ok" and replies(thread)[-1] == "Done."


def test_j11_all_are_at_work_before_the_first_one_reports(three):
    thread = opened(three, fan_out(item("a"), item("b"), item("c")))

    step()

    assert last_turn(thread).state == Turn.State.WAITING
    assert [last_turn(child).state for child in children(thread)] == [Turn.State.THINKING] * 3
    assert sorted(executors.rung) == sorted(last_turn(child).pk for child in children(thread))


def test_j11_the_call_is_settled_once_by_the_last_report(three):
    thread = opened(three, fan_out(item("a"), item("b"), item("c")))
    step()
    first, second, third = children(thread)

    run_turn_of(third)
    run_turn_of(first)
    assert call_of(thread).is_open and last_turn(thread).state == Turn.State.WAITING
    run_turn_of(second)

    assert not call_of(thread).is_open and executors.rung == [last_turn(thread).pk]
    assert thread.messages.filter(role="tool").count() == 1


def test_j10_the_caller_gains_one_result_and_nothing_of_the_childrens_work(ground):
    ground.assistant("a", tools=["current_time"], script=[{"calls": [{"name": "current_time"}], "reasoning": "Hm."}, "A."])
    ground.assistant("b", script=["B."])

    thread = shared_out(ground, item("a"), item("b"))

    told = scripted.requests(ground.lead.profile.model)[-1].conversation()
    assert thread.messages.filter(role="tool").count() == 1 and thread.messages.filter(role="assistant").count() == 2
    assert "Hm." not in str(told) and reports_of(thread)[0]["tools_used"] == ["current_time"]


def test_t01_both_kinds_go_together_in_one_call(three):
    three.lead.profile.refresh_from_db()
    helper = {"rules": [{"when": {"system": "Be brief"}, "reply": "Hello."}, {"steps": [fan_out(item("a"), agent()), "Done."]}]}
    thread = opened(three)
    three.script(helper)

    run_all()

    kinds = list(Delegation.objects.order_by("position").values_list("kind", flat=True))
    assert kinds == ["invoke", "spawn"]
    assert [each["reply"] for each in reports_of(thread)] == ["from a", "Hello."]


@pytest.mark.parametrize("count", [0, 1, 9])
def test_j11_two_to_eight_tasks_go_into_one_call(three, count):
    thread = shared_out(three, *[item("a", f"Part {number}") for number in range(count)])

    call = call_of(thread)
    assert (call.code, call.outcome) == ("BAD_ARGUMENTS", "refused") and "tasks" in call.result
    assert nothing_was_opened()


@pytest.mark.parametrize(
    ("wrong", "code", "field"),
    [
        (item("nobody"), "DELEGATE_NOT_ALLOWED", "tasks[1].assistant"),
        (item(""), "BAD_ARGUMENTS", "tasks[1].assistant"),
        (item("a", ""), "BAD_ARGUMENTS", "tasks[1].task"),
        ({"assistant": "a"}, "BAD_ARGUMENTS", "tasks[1].task"),
        (item("a", model="bigger"), "BAD_ARGUMENTS", "tasks[1].model"),
        (item("a", tools=[]), "BAD_ARGUMENTS", "tasks[1].tools"),
        (agent(tools=["calculate"]), "TOOL_NOT_GRANTABLE", "tasks[1].tools"),
        (agent(tools=["spawn_agents"]), "TOOL_NOT_GRANTABLE", "tasks[1].tools"),
        (agent(tools=[7]), "BAD_ARGUMENTS", "tasks[1].tools[0]"),
        (agent(based_on="nobody"), "DELEGATE_NOT_ALLOWED", "tasks[1].based_on"),
        ({"task": "Alone"}, "BAD_ARGUMENTS", "tasks[1].prompt"),
        ("a", "BAD_ARGUMENTS", "tasks[1]"),
    ],
)
def test_j12_t14_s26_one_task_at_fault_is_named_and_none_is_handed_out(three, wrong, code, field):
    thread = shared_out(three, item("a"), wrong, item("b"))

    call = call_of(thread)
    assert call.code == code and f"field={field} " in call.result
    assert nothing_was_opened() and replies(thread)[-1] == "Done."


def test_the_model_is_told_whom_it_may_ask_and_how_many(ground):
    ground.assistant("stock", description="Counts\nthings.", script=["42"])
    thread = opened(ground)

    told = find_tool("spawn_agents").define(definition_of(thread), thread)

    shape = told.parameters_json_schema
    tasks = shape["properties"]["tasks"]
    assert "- stock: Stock — Counts things." in told.description
    assert shape["$defs"]["ForAssistant"]["properties"]["assistant"]["enum"] == ["stock"]
    assert (tasks["minItems"], tasks["maxItems"], len(tasks["items"]["anyOf"])) == (2, 8, 2)


def test_without_anybody_to_call_only_agents_are_offered(ground):
    thread = opened(ground)

    told = find_tool("spawn_agents").define(definition_of(thread), thread)

    assert "ForAssistant" not in json.dumps(told.parameters_json_schema)
    assert told.parameters_json_schema["properties"]["tasks"]["items"] == {"$ref": "#/$defs/ForAgent"}


def test_j21_the_tool_names_the_combining_rule():
    assert "cache_assembled_table" in find_tool("spawn_agents").description


def test_journey_1_two_domains_at_once_need_a_plan_run_side_by_side_and_are_confirmed_with_evidence(ground):
    domains = [Domain.objects.create(tenant=ground.apes, slug=slug, name=slug.title()) for slug in ("counting", "weighing")]
    for name, domain in zip(("stock", "scale"), domains, strict=True):
        ground.assistant(name, domain=domain, script=[f"from {name}"])
    both = fan_out(item("stock", "Count", label="Pieces"), item("scale", "Weigh", label="Kilograms"))
    steps = [
        {"description": "Count", "check": "One number of pieces", "specialist": "stock"},
        {"description": "Weigh", "check": "One number of kilograms", "specialist": "scale"},
        {"description": "Compare", "check": "One sentence with both numbers"},
    ]
    confirm = {"calls": [{"name": "confirm_step", "arguments": {"index": 1, "evidence": "from stock"}}]}
    ground.lead.tools = ["write_plan", "confirm_step", "spawn_agents"]
    ground.lead.save()
    ground.script([both, {"calls": [{"name": "write_plan", "arguments": {"steps": steps}}]}, both, confirm, "Both."])
    thread = ground.open()

    step()
    turn = last_turn(thread)
    refused, _, settled = turn.calls.order_by("round")
    assert refused.code == "SPAWN_NO_PLAN" and settled.is_open and len(executors.rung) == 2
    run_all()

    found = json.loads(turn.calls.get(pk=settled.pk).result)["reports"]
    assert [each["label"] for each in found] == ["Pieces", "Kilograms"]
    statuses = list(PlanStep.objects.order_by("index").values_list("status", "evidence"))
    assert statuses[0] == ("done", "from stock") and statuses[1] == ("reported", "")
    assert replies(thread)[-1] == "Both."
