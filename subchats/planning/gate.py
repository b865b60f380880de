"""The gate in front of every delegation: is there a plan where one is needed, and does it foresee this (J-15 to J-17)?"""

from collections.abc import Sequence

from assistants.errors import CodedError
from assistants.models import Assistant, Domain, PlanApproval, PlanGate, ToolCall
from assistants.tools.context import ToolContext
from assistants.tools.registry import find_tool
from subchats.delegation.limits import depth_of
from subchats.models import PlanStep

from .record import plan_of, steps_of
from .statuses import matching


def check_plan(context: ToolContext, targets: Sequence[Assistant | None], *, fan_out: bool) -> None:
    """Raises what stands in the way of handing work to these targets at once; None stands for an ad-hoc agent.

    `SPAWN_NO_PLAN` when a plan is needed first, `PLAN_NOT_APPROVED` when a person has not approved this version,
    `UNPLANNED_STEP` when an approved plan has no step for a target, `UNPLANNED_DOMAIN` at the root when no step is about a
    target's domain. A single delegation without a plan passes under the gate `fanout` (decision 5). Below the root several of
    them in one reply are several specialists at once (J-16); at the root each passes, and each is counted (J-15).
    """
    plan = plan_of(context.turn)
    by_person = context.definition.plan_approval == PlanApproval.PERSON
    if plan is None:
        fan_out = fan_out or (depth_of(context.thread) > 0 and _is_one_of_several(context.call))
        if fan_out or by_person or context.definition.plan_gate == PlanGate.ALWAYS:
            raise _no_plan(context, fan_out=fan_out, by_person=by_person)
        return
    steps = [step for step in steps_of(plan) if step.status != PlanStep.Status.SKIPPED]
    if by_person and not plan.is_approved:
        raise _not_approved()
    if by_person and (strangers := [each for each in targets if not matching(steps, each)]):
        raise _unplanned_step(strangers[0])
    if depth_of(context.thread) == 0:
        planned = {step.domain_id for step in steps}
        for place, target in enumerate(targets):
            if target is not None and target.domain and target.domain_id not in planned:
                field = f"tasks[{place}].assistant" if fan_out else "assistant"
                raise _unplanned_domain(target, target.domain, field)


def _is_one_of_several(call: ToolCall) -> bool:
    """Whether the same reply hands other tasks over as well, no matter what becomes of them."""
    names = ToolCall.objects.filter(turn=call.turn_id, round=call.round).exclude(pk=call.pk).values_list("name", flat=True)
    return any(tool.delegates for name in names if (tool := find_tool(name)))


def _no_plan(context: ToolContext, *, fan_out: bool, by_person: bool) -> CodedError:
    below = depth_of(context.thread) > 0
    if fan_out and below:
        why = "You are about to set several specialists of your domain to work at once, and your domain has no plan yet."
    elif fan_out:
        why = "There is no plan yet, and several tasks at once need one."
    else:
        why = "There is no plan yet, and you may hand over nothing without one."
    return CodedError(
        code="SPAWN_NO_PLAN",
        message=f"{why} Nobody was set to work." + (" A person has to approve the plan as well." if by_person else ""),
        fix="Call write_plan with a step for each task, then call this again.",
    )


def _not_approved() -> CodedError:
    return CodedError(
        code="PLAN_NOT_APPROVED",
        message="This version of your plan has not been approved by a person. Nobody was set to work.",
        fix="Wait for the answer to write_plan, then call this again; without approval do the work yourself or end.",
    )


def _unplanned_step(target: Assistant | None) -> CodedError:
    name = f"“{target.slug}”" if target else "an ad-hoc agent"
    return CodedError(
        code="UNPLANNED_STEP",
        message=f"A person approved this plan, and none of its steps is for {name}. Nobody was set to work.",
        fix="Add a step with write_plan and wait for its approval, or do this part yourself.",
    )


def _unplanned_domain(target: Assistant, domain: Domain, field: str) -> CodedError:
    return CodedError(
        code="UNPLANNED_DOMAIN",
        field=field,
        message=f"“{target.slug}” belongs to the domain “{domain.slug}” ({domain.name}), and no step of your plan is about it."
        " Nobody was set to work.",
        fix=f"Extend the plan with a step for the domain “{domain.slug}” by write_plan, or answer that part yourself.",
    )
