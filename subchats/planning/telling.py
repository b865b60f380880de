"""What a model is told of its plan: the record itself, so that nothing depends on its memory (L1 to L3)."""

from typing import Any

from assistants.models import PlanApproval, Thread, Turn
from assistants.models.definition import Definition
from assistants.tools.registry import tools_of
from subchats.models import Plan, PlanStep

from .record import plan_of, steps_of
from .steps import may_plan

PLANNING = ("write_plan", "confirm_step")
NOT_APPROVED = " No person has approved it: nothing can be handed over. If nobody is asked, send it again with write_plan."


def as_data(plan: Plan) -> dict[str, Any]:
    """The plan as a tool's result: version, whether it is approved, and the steps, numbered from 1."""
    return {
        "version": plan.version,
        "approved": plan.is_approved,
        "steps": [_step_as_data(step) for step in steps_of(plan)],
    }


def _step_as_data(step: PlanStep) -> dict[str, Any]:
    return {
        "number": step.index,
        "description": step.description,
        "check": step.check_text,
        "specialist": step.specialist.slug if step.specialist else "",
        "domain": step.domain.slug if step.domain else "",
        "status": step.status,
        "evidence": step.evidence,
    }


def plan_note(turn: Turn, thread: Thread, definition: Definition) -> str:
    """The plan as it stands now, for the prompt; empty without one, unless a person has to approve one first."""
    if not any(tool.delegates or tool.name in PLANNING for tool in tools_of(definition.tools)):
        # Whoever can hand nothing over has no plan (J-01).
        return ""
    plan = plan_of(turn)
    by_person = definition.plan_approval == PlanApproval.PERSON
    if plan is None:
        needed = by_person and may_plan(definition, thread)
        return "Before you hand anything over, a person has to approve your plan: call write_plan first." if needed else ""
    state = " A person has approved it." if plan.is_approved else NOT_APPROVED if by_person else ""
    lines = [f"Your plan for this turn, version {plan.version}, as recorded.{state}", *map(_line, steps_of(plan))]
    if not all(step.is_closed for step in steps_of(plan)):
        lines.append(
            "A report makes a step reported only. Confirm each step whose check is fulfilled with confirm_step and the"
            " evidence; before you end, name in your answer what stays open."
        )
    return "\n".join(lines)


def _line(step: PlanStep) -> str:
    who = step.specialist.slug if step.specialist else "yourself"
    where = f", domain {step.domain.slug}" if step.domain else ""
    evidence = f" Evidence: {step.evidence}" if step.evidence else ""
    return f"{step.index}. [{step.status}] {step.description} ({who}{where}). Check: {step.check_text}{evidence}"
