"""What speaks against a delegation: asked in one order, said as one object, and before anything is made (decision 8)."""

import pytest

from assistants.checks import check_setups
from assistants.errors import CodedError
from assistants.models import AuditEntry, Domain, SpendEntry, Turn
from assistants.models.definition import definition_of
from assistants.rendering import fragments
from assistants.setup.rules import assistant_problems
from assistants.tools.outcomes import Pending, Refused
from assistants.tools.registry import find_tool
from assistants.turns.budget import cap_of
from subchats.delegation.roster import delegates_of, get_delegate
from subchats.models import Plan, PlanStep
from tests.kit.turns import last_turn, replies, run_all
from tests.subchats.fan_outs import (
    TOOLS,
    agent,
    attempt,
    call_of,
    children,
    fan_out,
    item,
    nothing_was_opened,
    opened,
    plan,
)

DELEGATING = ("invoke_assistant", "spawn_agent", "spawn_agents")


def one(name, **arguments):
    return {"calls": [{"name": name, "arguments": arguments}]}


WAYS = {
    "invoke_assistant": lambda who: one("invoke_assistant", assistant=who, task="Count"),
    "spawn_agent": lambda who: one("spawn_agent", task="Count", prompt="Count.", tools=[], based_on=who),
    "spawn_agents": lambda who: fan_out(item(who), item(who, "And again")),
}


@pytest.fixture(params=DELEGATING)
def way(request):
    """Each of the three tools, as a step that hands work to somebody."""
    return request.param, WAYS[request.param]


def refused(thread, name):
    """The call's code and text, once nothing was opened by it and the turn went on to its end."""
    call = call_of(thread, name)
    assert call.outcome == "refused" and nothing_was_opened()
    assert call.result.startswith(f"[{call.code}] field=") and " fix=" in call.result
    assert (last_turn(thread).state, replies(thread)[-1]) == (Turn.State.DONE, "Done.")
    return call.code, call.result


def spend_everything(turn):
    """The budget of the turn's tree is used up."""
    spent = {"tokens": cap_of(turn), "reserved": 0, "settled": turn.created, "created": turn.created}
    SpendEntry.objects.create(root=turn, turn=turn, round=9, attempt=1, tenant=turn.thread.tenant, **spent)


def test_j12_a_call_with_every_fault_at_once_hears_of_them_one_by_one_in_the_order_of_decision_8(ground, settings):
    counting, other = (Domain.objects.create(tenant=ground.apes, slug=slug, name=slug) for slug in ("counting", "other"))
    listed, stock = ground.assistant("listed"), ground.assistant("stock", domain=counting)
    ground.lead.delegates.add(listed)
    thread = opened(ground)
    Plan.objects.all().delete()
    spend_everything(last_turn(thread))
    usual = settings.TASKMONKEY
    settings.TASKMONKEY = {**usual, "MAX_DEPTH": 0, "MAX_AGENTS_PER_TREE": 2}
    good, bad = [item("stock"), item("stock", "And again")], [item("stock"), {"assistant": "stock"}]

    def heard(tasks=good):
        outcome = attempt(thread, "spawn_agents", tasks=tasks)
        return (outcome.error.code, outcome.error.field) if isinstance(outcome, Refused) else outcome

    assert heard(bad) == ("BAD_ARGUMENTS", "tasks[1].task")
    assert heard() == ("DEPTH_EXCEEDED", "")
    settings.TASKMONKEY = {**settings.TASKMONKEY, "MAX_DEPTH": 2}
    assert heard() == ("DELEGATE_NOT_ALLOWED", "tasks[0].assistant")
    ground.lead.delegates.add(stock)
    assert heard() == ("BUDGET_EXHAUSTED", "")
    SpendEntry.objects.all().delete()
    assert heard() == ("TREE_LIMIT", "")
    settings.TASKMONKEY = usual
    assert heard() == ("SPAWN_NO_PLAN", "")
    plan(thread, other)
    assert heard() == ("UNPLANNED_DOMAIN", "tasks[0].assistant")
    assert nothing_was_opened()
    PlanStep.objects.update(domain=counting)
    assert heard() == Pending() and len(children(thread)) == 2


def test_j13_an_exhausted_budget_names_the_four_things_to_do_instead(ground, way):
    name, made = way
    ground.assistant("stock")
    thread = opened(ground)
    spend_everything(last_turn(thread))

    refusal = attempt(thread, name, **made("stock")["calls"][0]["arguments"]).error

    assert refusal.code == "BUDGET_EXHAUSTED" and nothing_was_opened()
    for part in ("Take stock", "Report what is established", "were about to delegate next", "on the right lines"):
        assert part in refusal.message


def test_j14_who_is_not_on_the_list_is_refused_by_name_and_the_audit_knows_it(ground, way):
    name, made = way
    ground.lead.delegates.add(ground.assistant("stock", script=["42"]))
    ground.assistant("secret", script=["never"])

    thread = opened(ground, made("secret"))
    run_all()

    code, text = refused(thread, name)
    assert code == "DELEGATE_NOT_ALLOWED" and "“secret”" in text and "stock" in text
    assert AuditEntry.objects.filter(action="tool_refused", detail__code=code).count() == 1


def test_j14_whom_the_person_may_not_use_the_assistant_may_not_ask(ground):
    stock = ground.assistant("stock", script=["42"])
    thread = ground.open()
    assert get_delegate("stock", delegates_of(definition_of(thread), thread)) == stock

    thread.owner = ground.rita
    with pytest.raises(CodedError, match="You can't hand work to “stock”"):
        get_delegate("stock", delegates_of(definition_of(thread), thread))


def test_j14_a_list_of_which_nobody_is_left_does_not_open_the_whole_team(ground):
    ground.assistant("others", script=["never"])
    ground.lead.delegates.add(ground.assistant("gone", enabled=False))
    thread = ground.open()

    assert delegates_of(definition_of(thread), thread) == []


def test_t11_s28_below_the_lowest_level_nobody_is_asked_whichever_tool_is_used(ground, way):
    name, made = way
    ground.assistant("leaf", tools=list(TOOLS), script=[made("leaf"), "Leaf."])
    ground.assistant("mid", tools=["invoke_assistant"], script=[one("invoke_assistant", assistant="leaf", task="Go"), "Mid."])
    thread = opened(ground, one("invoke_assistant", assistant="mid", task="Go"))

    run_all()

    leaf = children(children(thread)[0])[0]
    call = call_of(leaf, name)
    assert call.code == "DEPTH_EXCEEDED" and "yourself" in call.result and not children(leaf)


def test_t14_s26_an_agent_gets_no_tool_of_delegation_and_none_that_its_master_lacks(ground):
    for number, tools in enumerate((["spawn_agents"], ["invoke_assistant"], ["calculate"], ["drop_tables"])):
        thread = opened(ground, fan_out(agent(tools=["current_time"]), agent(f"Task {number}", tools=tools)))

        run_all()

        code, text = refused(thread, "spawn_agents")
        assert code == "TOOL_NOT_GRANTABLE" and tools[0] in text


def test_j12_the_card_says_who_was_asked_and_why_not(ground, way):
    name, made = way
    ground.lead.delegates.add(ground.assistant("stock", script=["42"]))

    thread = opened(ground, made("secret"))
    run_all()

    html = str(fragments.draw_log(fragments.viewpoint(thread, ground.alice)))
    assert 'data-state="refused"' in html and "DELEGATE_NOT_ALLOWED" in html and "refused" in html
    assert "You can&#x27;t hand work to “secret”" in html and "field=" not in html
    assert "secret" in html if name != "spawn_agent" else "Ad-hoc agent" in html


@pytest.mark.parametrize("name", DELEGATING)
def test_t03_journey_15_a_public_assistant_with_a_tool_of_delegation_is_refused_on_save_in_the_check_and_at_run_time(
    ground, name
):
    ground.assistant("stock", script=["42"])
    thread = opened(ground, WAYS[name]("stock"))
    ground.lead.tools, ground.lead.public = [name], True

    assert [problem.code for problem in assistant_problems(ground.lead, delegates=[])] == ["PUBLIC_DELEGATES"]
    ground.lead.save()
    assert any("PUBLIC_DELEGATES" in str(found) or name in str(found) for found in check_setups())
    run_all()
    code, text = refused(thread, name)
    assert code == "TOOL_NOT_ALLOWED" and "public" in text


def test_decision_10_all_three_tools_are_marked_as_delegating():
    assert [find_tool(name).delegates for name in DELEGATING] == [True] * 3
