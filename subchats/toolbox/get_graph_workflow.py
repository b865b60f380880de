"""Gives a whole workflow, step by step (J-34, J-35)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.workflows.catalogue import get_workflow
from subchats.workflows.report import workflow_as_data


@tool(in_transaction=True)
def get_graph_workflow(
    context: ToolContext,
    workflowId: Annotated[str, Field(max_length=80, description="As find_graph_workflow gave it.")],  # noqa: N803
) -> Any:
    """Read a workflow: every step in order, who does it, with which tools, what it produces and what it requires first.

    A step whose owner is "operator" is done by a person: say what has to be done and by whom, and don't look for a tool.
    A step's hazard says what goes wrong when it is done out of order. Ask get_workflow_progress before you begin.
    """
    return workflow_as_data(get_workflow(context.thread.tenant_id, workflowId))
