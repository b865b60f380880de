"""Writes down what a turn means to do, before anything is handed over (J-01 to J-09)."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from assistants.errors import CodedError
from assistants.llm.request import ToolDefinition
from assistants.models import PlanApproval, Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from assistants.tools.outcomes import Pending
from assistants.tools.registry import tool
from subchats.delegation.limits import depth_of
from subchats.planning.approval import ask
from subchats.planning.record import record_steps
from subchats.planning.steps import MAX_STEPS, Draft, check_steps, may_plan, specialists_for
from subchats.planning.telling import as_data


class PlannedStep(BaseModel):
    """One step of the plan."""

    model_config = ConfigDict(extra="forbid")

    description: Annotated[str, Field(max_length=500, description="What is to be found out or done.")]
    check: Annotated[
        str,
        Field(max_length=500, description="By what one sees that it is done: an observable result, never just “it is done”."),
    ]
    specialist: Annotated[str, Field(max_length=80, description="Who does it; left out, you do it yourself.")] = ""
    domain: Annotated[str, Field(max_length=80, description="Its domain; left out, it is the specialist's.")] = ""


def only_for_planners(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition | None:
    """Only for whoever may delegate (J-01); names whom the plan may foresee."""
    if not may_plan(definition, thread):
        return None
    lines = [
        f"- {each.slug}" + (f" (domain {each.domain.slug})" if each.domain else "")
        for each in specialists_for(definition, thread)
    ]
    approval = ["A person approves each version; until then nothing can be handed over."]
    parts = [plain.description or "", *(approval if definition.plan_approval == PlanApproval.PERSON else [])]
    if lines:
        parts += ["The specialists:", *lines]
    return ToolDefinition(name=plain.name, description="\n".join(parts), parameters_json_schema=plain.parameters_json_schema)


@tool(effect="idempotent", in_transaction=True, describe=only_for_planners, free_text=("steps",))
def write_plan(
    context: ToolContext,
    steps: Annotated[
        list[PlannedStep],
        Field(min_length=1, max_length=MAX_STEPS, description="The steps in their order; of an existing plan only new ones."),
    ],
) -> Any:
    """Write the plan of this turn at its start, before you hand anything over.

    1 to 12 steps, each with an observable check. Call it again only to append: send the new steps alone, or all existing
    ones word for word followed by the new ones. A step that exists never changes; put a wrong one right by a later step.
    Several tasks at once, and specialists of a domain, need a step that foresees them. Confirm each step with confirm_step.
    """
    if not may_plan(context.definition, context.thread):
        raise CodedError(
            code="NO_PLAN_NEEDED",
            message="There is nobody you could hand work to here, so a plan is of no use.",
            fix="Do the work yourself.",
            correctable=False,
        )
    drafts = [Draft(each.description, each.check, each.specialist, each.domain) for each in steps]
    checked = check_steps(drafts, thread=context.thread, definition=context.definition)
    domain_id = context.definition.domain_id if depth_of(context.thread) else None
    plan = record_steps(context.call, checked, domain_id=domain_id)
    if context.definition.plan_approval == PlanApproval.PERSON and not plan.is_approved:
        ask(context.call)
        return Pending()
    return as_data(plan)
