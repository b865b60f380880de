"""The gate in front of every delegation: is there a plan where one is needed, and does it foresee this (J-15 to J-17)?"""

from collections.abc import Sequence

from assistants.errors import CodedError
from assistants.models import Assistant, PlanGate
from assistants.tools.context import ToolContext
from subchats.models import Plan


def check_plan(context: ToolContext, targets: Sequence[Assistant | None], *, fan_out: bool) -> None:
    """Raises `SPAWN_NO_PLAN` when this assistant needs a plan first; a target of None is an ad-hoc agent (decision 5)."""
    needs = fan_out or context.definition.plan_gate == PlanGate.ALWAYS
    if needs and not Plan.objects.filter(turn=context.turn).exists():
        raise CodedError(
            code="SPAWN_NO_PLAN",
            message="There is no plan yet, and several tasks at once need one.",
            fix="Call write_plan with a step for each task, then call this again.",
        )
