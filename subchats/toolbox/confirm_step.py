"""Says that a step of the plan is done, with the evidence (decision 6)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.llm.request import ToolDefinition
from assistants.models import Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.planning.confirmation import confirm
from subchats.planning.steps import MAX_STEPS, may_plan
from subchats.planning.telling import as_data


def only_for_planners(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition | None:
    """Whoever can't write a plan has no steps to confirm (J-01)."""
    return plain if may_plan(definition, thread) else None


@tool(effect="idempotent", in_transaction=True, describe=only_for_planners, free_text=("evidence",))
def confirm_step(
    context: ToolContext,
    index: Annotated[int, Field(ge=1, le=MAX_STEPS, description="The step's number in the plan.")],
    evidence: Annotated[
        str, Field(min_length=1, max_length=4000, description="What fulfils the check: figures, quotes, names. Not “done”.")
    ],
    skip: Annotated[bool, Field(description="The step is not needed any more; the evidence is the reason then.")] = False,
) -> Any:
    """Confirm that a step of your plan is done, with what you saw that fulfils its check.

    A report alone does not make a step done: you judge it against the check. A step that came to nothing stays open, unless
    you skip it and say why.
    """
    plan = confirm(context, index, evidence, skip=skip)
    return as_data(plan)
