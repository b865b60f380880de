"""What a tool's body may know about the call it serves."""

from dataclasses import dataclass

from assistants.models import Thread, ToolCall, Turn
from assistants.models.definition import Definition


@dataclass(frozen=True)
class ToolContext:
    """The call, its turn and thread, and who answers there. A tool acts with the rights of the thread's owner."""

    call: ToolCall
    turn: Turn
    thread: Thread
    definition: Definition
