"""Hands a task to an assistant that an admin has set up (T-01, T-04)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.llm.request import ToolDefinition
from assistants.models import Assistant, Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.delegation.roster import delegates_of
from subchats.planning.admission import Wanted, hand_over


def name_delegates(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition | None:
    """Tells the model whom it may call, by slug, name and description; without anybody the tool is of no use (J-01)."""
    delegates = delegates_of(definition, thread)
    if not delegates:
        return None
    schema = {**plain.parameters_json_schema, "properties": dict(plain.parameters_json_schema["properties"])}
    schema["properties"]["assistant"] = {
        **schema["properties"]["assistant"],
        "enum": [each.slug for each in delegates],
    }
    description = "\n".join([plain.description or "", "The assistants:", *map(introduce, delegates)])
    return ToolDefinition(name=plain.name, description=description, parameters_json_schema=schema)


def introduce(delegate: Assistant) -> str:
    """One line about an assistant that may be called: slug, name and description."""
    return f"- {delegate.slug}: {delegate.name} — {' '.join(delegate.description.split())}"


@tool(
    effect="idempotent",
    delegates=True,
    in_transaction=True,
    describe=name_delegates,
    free_text=("task", "context"),
)
def invoke_assistant(
    context: ToolContext,
    assistant: Annotated[str, Field(max_length=80, description="The assistant's short name, exactly as listed.")],
    task: Annotated[
        str, Field(min_length=1, max_length=20_000, description="The whole task; it sees nothing else of this chat.")
    ],
    context_: Annotated[str, Field(alias="context", max_length=50_000, description="Facts from this chat that it needs.")] = "",
) -> Any:
    """Hand a self-contained task to another assistant and get its final report.

    It works in a chat of its own and sees only the task and the context. Several calls in one reply run at the same
    time; call one after the other when a task needs an earlier report. When you combine numbers or rows from several
    reports, cache them with cache_assembled_table before you report them onward, instead of repeating them as prose.
    """
    return hand_over(context, [Wanted(task=task, context=context_, assistant=assistant)])
