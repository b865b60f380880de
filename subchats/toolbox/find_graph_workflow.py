"""Finds a known way of doing a task by the words it shares with it (J-33)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.workflows.catalogue import workflows_of
from subchats.workflows.matcher import match_workflows
from subchats.workflows.report import matches_as_data


@tool(in_transaction=True, free_text=("task",))
def find_graph_workflow(
    context: ToolContext,
    task: Annotated[str, Field(min_length=1, max_length=2000, description="What is to be done, in the person's own words.")],
) -> Any:
    """Look whether there is a known workflow for a task of several steps, before you plan one yourself.

    It compares words only, in English or German, so it costs nothing and needs no search. The best candidates come
    first; read one with get_graph_workflow before you follow it.
    """
    return matches_as_data(match_workflows(task, workflows_of(context.thread.tenant_id)))
