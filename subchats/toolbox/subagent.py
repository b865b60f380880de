"""Sends explorers into the team's documents for a research (A-16 to A-30)."""

from typing import Any

from assistants.documents.roots import roots_for
from assistants.llm.request import ToolDefinition
from assistants.models import Thread
from assistants.models.definition import Definition
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.research.payload import CONTAINERS, EXPLORER
from subchats.research.sending import dispatch


def describe_dispatch(plain: ToolDefinition, definition: Definition, thread: Thread) -> ToolDefinition | None:
    """The payload's shape and the folders there are; of no use to an assistant that does no research."""
    if not definition.research:
        return None
    text = {"type": "string"}
    leaf = {
        "agent": {"const": EXPLORER},
        "model": text,
        "cwd": {"enum": [root.name for root in roots_for(thread)]},
        "task": text,
    }
    properties: dict[str, Any] = {
        "action": {"type": "string", "description": "list, get, models, status or doctor; left out for a dispatch"},
        "agentScope": {"const": "user"},
        "artifacts": {"const": False},
        **leaf,
        **{name: {"type": "array", "items": {"type": "object", "properties": leaf}} for name in CONTAINERS},
    }
    return ToolDefinition(
        name=plain.name,
        description=plain.description,
        parameters_json_schema={"type": "object", "properties": properties},
    )


@tool(
    effect="idempotent",
    delegates=True,
    in_transaction=True,
    describe=describe_dispatch,
    free_text=("task", *CONTAINERS),
)
def subagent(context: ToolContext, **payload: Any) -> Any:
    """Send explorers into the documents: one with agent, cwd and task, or several at once with tasks.

    Set agentScope and artifacts once at the top. Each task holds one assignment: the person's query word for word, one
    method, and several wordings. Their reports come back together, with evidence that was looked up in the documents.
    """
    return dispatch(context, payload)
