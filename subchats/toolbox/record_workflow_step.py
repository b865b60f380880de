"""Records that a step of a workflow is done, or is not although it looks so (J-37)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.workflows.catalogue import get_node, get_workflow
from subchats.workflows.marks import take_marks
from subchats.workflows.progress import progress_of
from subchats.workflows.records import record_step
from subchats.workflows.report import progress_as_data


@tool(effect="idempotent", in_transaction=True, free_text=("note",))
def record_workflow_step(
    context: ToolContext,
    workflowId: Annotated[str, Field(max_length=80, description="As find_graph_workflow gave it.")],  # noqa: N803
    nodeId: Annotated[str, Field(max_length=80, description="The step's nodeId.")],  # noqa: N803
    completed: Annotated[bool, Field(description="False takes back what was recorded or only looks done.")],
    note: Annotated[str, Field(max_length=2000, description="What says so: a result, or who told you.")] = "",
) -> Any:
    """Record how a step stands; it overrides what was seen, both ways, and the newest record counts.

    Use it for steps without a tool, for what a person says they have done, and above all to mark a step as not done
    although its tools ran: a wrong or incomplete result must be done again. You get the progress back.
    """
    workflow = get_workflow(context.thread.tenant_id, workflowId)
    node = get_node(workflow, nodeId)
    record_step(context.thread, workflow, node, completed=completed, note=note, call=context.call)
    progress = progress_of(workflow, context.thread)
    take_marks(progress, context.thread)
    return progress_as_data(progress)
