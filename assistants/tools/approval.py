"""The gate between a call and its body: which calls a person has to agree to first, and whether one did (D8)."""

import hashlib
import json
from typing import Any

from assistants.errors import NotAllowed
from assistants.models import ToolCall

from .context import ToolContext
from .outcomes import Held
from .registry import Tool

# Why a person is asked: the tool always asks, the assistant's settings want it, or text from outside could have led a
# model that has read private data to send it out.
TOOL, ASSISTANT, TAINT = "tool", "assistant", "taint"
ASKED, APPROVED, USED, REJECTED = "asked", "approved", "used", "rejected"


def hold(tool: Tool, context: ToolContext) -> Held | None:
    """The call's hold if a person has yet to agree to exactly these arguments, else None (D8, S30).

    Asked again at the moment of the run: leave that was given for other arguments counts for nothing. Raises
    `NOBODY_TO_ASK` in a visitor's conversation, since a visitor can't speak for the team.
    """
    why = reasons(tool, context)
    if not why or is_approved(context.call):
        return None
    if not context.thread.owner_id:
        raise NotAllowed(
            code="NOBODY_TO_ASK",
            field="name",
            message=f"{tool.name} needs the approval of a member of the team, and nobody here can give it.",
            fix="Go on without it, and say what was not done.",
            correctable=False,
        )
    return Held(why)


def reasons(tool: Tool, context: ToolContext) -> tuple[str, ...]:
    """Why a person has to agree to this call; empty if nobody needs to."""
    tainted = bool(context.thread.tainted_by) and context.thread.read_private
    found = {
        TOOL: tool.approval,
        ASSISTANT: tool.name in context.definition.approve_tools,
        TAINT: tool.sends_out and tainted,
    }
    return tuple(why for why, holds in found.items() if holds)


def is_approved(call: ToolCall) -> bool:
    """Whether a person agreed to this very call as it stands; one that was cut off in its run still is."""
    given = call.approval or {}
    return given.get("state") in (APPROVED, USED) and given.get("hash") == seal(call.name, call.arguments)


def seal(name: str, arguments: dict[str, Any]) -> str:
    """The hash of a tool's name and arguments, whatever their order: 64 hexadecimal digits."""
    text = json.dumps({"name": name, "arguments": arguments}, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
