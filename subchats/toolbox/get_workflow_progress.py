"""Tells how far a workflow has come in this conversation, and what is next (J-36, J-38)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.workflows.catalogue import get_workflow
from subchats.workflows.marks import take_marks
from subchats.workflows.progress import progress_of
from subchats.workflows.report import progress_as_data


@tool(in_transaction=True)
def get_workflow_progress(
    context: ToolContext,
    workflowId: Annotated[str, Field(max_length=80, description="As find_graph_workflow gave it.")],  # noqa: N803
) -> Any:
    """See which steps of a workflow are done in this conversation, its earlier turns and sub-chats included, and the next.

    Call it before you begin and after every interruption, so that nothing is done twice. recorded_done: somebody said
    so. inferred_done: all tools of the step have succeeded here. outstanding: still to do.
    """
    workflow = get_workflow(context.thread.tenant_id, workflowId)
    progress = progress_of(workflow, context.thread)
    take_marks(progress, context.thread)
    return progress_as_data(progress)
