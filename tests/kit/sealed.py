"""Tools that exist for one test only, which write down what they were run with, and a person's word on their calls."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from assistants.models import Assistant, Thread, ToolCall, User
from assistants.tools import registry
from assistants.tools.context import ToolContext
from assistants.turns import approvals


@dataclass
class Catcher:
    """Everything that got out."""

    caught: list[dict[str, Any]] = field(default_factory=list)

    def declare(self, name: str, **declared: Any) -> registry.Tool:
        """A tool `name(to, text, copies=1)` whose calls are caught here."""

        def body(context: ToolContext, to: str, text: str, copies: int = 1) -> Any:
            """Send a text to somebody."""
            self.caught.append({"tool": name, "to": to, "text": text, "copies": copies})
            return {"sent": True}

        body.__name__ = name
        registry.tool(**{"in_transaction": True, "free_text": ("text",), **declared})(body)
        found = registry.find_tool(name)
        assert found
        return found

    def source(self, name: str, result: Any, **declared: Any) -> registry.Tool:
        """A tool without arguments that gives this back."""

        def body(context: ToolContext) -> Any:
            """Read something."""
            return result() if isinstance(result, Callable) else result

        body.__name__ = name
        registry.tool(**{"in_transaction": True, **declared})(body)
        found = registry.find_tool(name)
        assert found
        return found


def give(assistant: Assistant, *tools: str, **fields: Any) -> None:
    """Lets the assistant use these beside what it has."""
    assistant.tools = [*assistant.tools, *tools]
    for name, value in fields.items():
        setattr(assistant, name, value)
    assistant.save()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """One call as a script writes it."""
    return {"name": name, "arguments": arguments}


def asked(thread: Thread | None = None) -> ToolCall:
    """The one call that waits for approval, in this thread or anywhere."""
    found = ToolCall.objects.asked()
    return found.get(turn__thread=thread) if thread else found.get()


def allow(waiting: ToolCall, by: User, **changes: str) -> None:
    """The person allows what they see, or what they put in its place."""
    shown = waiting.approval["hash"]
    approvals.approve(waiting, by=by, name=by.display_name, shown=shown, changes=changes)
