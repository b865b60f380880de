"""Builds an agent for one task at run time (T-01, T-05)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.planning.admission import Wanted, hand_over


@tool(effect="idempotent", delegates=True, in_transaction=True, free_text=("task", "prompt", "context"))
def spawn_agent(
    context: ToolContext,
    task: Annotated[str, Field(min_length=1, max_length=20_000, description="The whole task.")],
    prompt: Annotated[str, Field(min_length=1, max_length=20_000, description="The agent's instructions.")],
    tools: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(max_length=50, description="Names of your own tools that it may use; may be empty."),
    ],
    based_on: Annotated[
        str, Field(max_length=80, description="An assistant whose instructions and model it starts from.")
    ] = "",
    context_: Annotated[str, Field(alias="context", max_length=50_000, description="Facts from this chat that it needs.")] = "",
) -> Any:
    """Build an agent for one task that no existing assistant fits, and get its final report.

    It works in a chat of its own with the instructions and tools that you give it here, and can't delegate further.
    When you combine numbers or rows from several reports, cache them with cache_assembled_table before you report
    them onward, instead of repeating them as prose.
    """
    wanted = Wanted(task=task, context=context_, prompt=prompt, tools=tuple(tools), based_on=based_on)
    return hand_over(context, [wanted])
