"""Which workflows there are, and what each of them fulfils (J-32, J-34, J-35)."""

import json
from dataclasses import replace
from itertools import combinations

import pytest
from django.core.checks import run_checks

from assistants.errors import CodedError
from assistants.tools.registry import find_tool
from subchats.workflows.catalogue import BUILT_IN, get_node, get_workflow, workflows_of
from subchats.workflows.sets import analytics, content, platform
from subchats.workflows.shape import OPERATOR, Node, Workflow
from subchats.workflows.validation import workflow_problems
from tests.kit.turns import run_all
from tests.workflows.steps import banana_count, call, calls_of


def codes(workflow, **more):
    return [problem.code for problem in workflow_problems(workflow, **more)]


def flow(*nodes):
    return Workflow("banana", "Banana", "Bananas.", ("Count bananas",), nodes)


STEP = Node("one", "One", "lead")


def test_j32_the_catalogue_is_the_three_sets_one_after_the_other(db, ground):
    assert content.ALL + platform.ALL + analytics.ALL == BUILT_IN == workflows_of(ground.apes.pk)
    assert min(len(each.ALL) for each in (content, platform, analytics)) >= 3


def test_j32_every_workflow_of_the_product_keeps_all_rules_and_names_registered_tools():
    ids = [workflow.id for workflow in BUILT_IN]

    assert len(set(ids)) == len(ids)
    assert {workflow.id: codes(workflow) for workflow in BUILT_IN if codes(workflow)} == {}


def test_j36_no_two_steps_of_the_products_workflows_are_seen_done_by_the_same_tools():
    doubled = [
        (workflow.id, first.id, second.id)
        for workflow in BUILT_IN
        for first, second in combinations([node for node in workflow.nodes if node.operations], 2)
        if set(first.operations) == set(second.operations)
    ]

    assert doubled == []


def test_decision_12_a_tenants_own_enabled_workflows_join_and_another_tenants_do_not(ground):
    banana_count(ground.apes)
    banana_count(ground.apes, slug="off", enabled=False)
    banana_count(ground.bears, slug="honey")

    assert [each.id for each in workflows_of(ground.apes.pk)[len(BUILT_IN) :]] == ["banana-count"]
    with pytest.raises(CodedError):
        get_workflow(ground.apes.pk, "honey")


@pytest.mark.parametrize(
    ("nodes", "code", "field"),
    [
        ((), "NODES_MISSING", "nodes"),
        ((STEP, replace(STEP, title="Again")), "NODE_ID_TWICE", "nodes.1.id"),
        ((replace(STEP, id="No id"),), "NODE_ID_BAD", "nodes.0.id"),
        ((replace(STEP, title=" "),), "NODE_TITLE_MISSING", "nodes.0.title"),
        ((replace(STEP, owner=""),), "OWNER_MISSING", "nodes.0.owner"),
        ((replace(STEP, operations=("fly",)),), "OPERATION_UNKNOWN", "nodes.0.operations"),
        ((replace(STEP, requires=("two",)),), "REQUIRES_UNKNOWN", "nodes.0.requires"),
        ((replace(STEP, requires=("two",)), replace(STEP, id="two")), "NODE_TOO_EARLY", "nodes.0.requires"),
        ((replace(STEP, requires=("one",)),), "WORKFLOW_CYCLE", "nodes.0.requires"),
        (
            (STEP, replace(STEP, id="two", requires=("three",)), replace(STEP, id="three", requires=("two",))),
            "WORKFLOW_CYCLE",
            "nodes.1.requires",
        ),
        ((replace(STEP, owner=OPERATOR),), "OPERATOR_NOTE_MISSING", "nodes.0.note"),
        (
            (replace(STEP, owner=OPERATOR, note="Kim signs.", operations=("calculate",)),),
            "OPERATOR_HAS_OPERATIONS",
            "nodes.0.operations",
        ),
    ],
)
def test_j32_j35_a_workflow_that_breaks_a_rule_is_refused_at_the_step_at_fault(nodes, code, field):
    problems = workflow_problems(flow(*nodes))

    assert [(each.code, each.field) for each in problems] == [(code, field)]
    assert all(each.message and each.fix for each in problems)


def test_j32_an_id_that_is_taken_and_an_owner_of_nobody_are_refused():
    assert codes(flow(STEP), taken={"banana"}) == ["WORKFLOW_ID_TAKEN"]
    assert codes(flow(STEP), owners={"stock"}) == ["OWNER_UNKNOWN"]
    assert codes(flow(STEP), owners={"lead"}) == []


def test_j34_an_unknown_id_is_refused_with_the_ids_near_it(db, ground):
    with pytest.raises(CodedError) as refused:
        get_workflow(ground.apes.pk, "reserch-raport")

    assert refused.value.code == "WORKFLOW_UNKNOWN"
    assert "research-report" in refused.value.message


def test_j37_an_unknown_step_is_refused_with_the_steps_there_are():
    with pytest.raises(CodedError) as refused:
        get_node(content.RESEARCH_REPORT, "wrong")

    assert refused.value.code == "NODE_UNKNOWN"
    assert "scope, plan, collect, prove, write, release" in refused.value.message


def test_j34_j35_a_model_gets_every_field_of_every_step_and_the_guard_lets_it_through(troop):
    troop.script([{"calls": [call("get_graph_workflow", workflowId=each.id)["calls"][0] for each in BUILT_IN]}, "Read."])
    thread = troop.open()
    run_all()

    calls = calls_of(thread)
    assert [(each.outcome, each.guard) for each in calls] == [("ok", None)] * len(BUILT_IN)
    for workflow, each in zip(BUILT_IN, calls, strict=True):
        data = json.loads(each.result)
        assert [row["nodeId"] for row in data["nodes"]] == [node.id for node in workflow.nodes]
        for order, row in enumerate(data["nodes"], 1):
            assert row["order"] == order
            keys = {"nodeId", "order", "title", "owner", "operations", "produces", "requires", "hazard", "note"}
            assert row.keys() - {"hint"} == keys
            if row["owner"] == OPERATOR:
                assert row["operations"] == [] and row["note"] and "by whom" in row["hint"]


def test_j34_a_model_that_asks_for_an_unknown_workflow_learns_what_to_do(troop):
    troop.script([call("get_graph_workflow", workflowId="banana"), "Sorry."])
    thread = troop.open()
    run_all()

    (refused,) = calls_of(thread)
    assert (refused.outcome, refused.code) == ("refused", "WORKFLOW_UNKNOWN")
    assert "banana-count" in refused.result


def test_j32_the_four_tools_carry_their_names_on_the_wire():
    wanted = {
        "find_graph_workflow": {"task"},
        "get_graph_workflow": {"workflowId"},
        "get_workflow_progress": {"workflowId"},
        "record_workflow_step": {"workflowId", "nodeId", "completed", "note"},
    }

    assert {name: set(find_tool(name).arguments.model_fields) for name in wanted} == wanted


def test_j32_a_stored_workflow_that_names_what_is_gone_is_found_by_a_system_check(troop):
    troop.lead.slug = "other"
    troop.lead.save()

    warnings = [each for each in run_checks(tags=["subchats"]) if each.id == "subchats.W002"]

    assert len(warnings) == 3
    assert "nodes.0.owner: There is no assistant “lead”" in warnings[0].msg
