"""Builds what a model is asked from the record alone, so that any process can build it again."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Q
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from assistants.llm.profile import Profile
from assistants.models import Message, Thread, ToolCall, Turn
from assistants.models.definition import Definition, resolve_profile
from assistants.tools.invoke import shown_to_model
from assistants.tools.registry import tools_of


@dataclass(frozen=True)
class Prompt:
    """One model request: who is asked, with which model, what, and with which tools."""

    definition: Definition
    profile: Profile
    messages: list[ModelMessage]
    tools: list[ToolDefinition]


_notes: list[Callable[[Turn, Thread], str]] = []


def add_note(note: Callable[[Turn, Thread], str]) -> None:
    """Adds what the platform tells a model at each step, below its instructions; an empty text says nothing."""
    _notes.append(note)


def build_prompt(
    turn: Turn, thread: Thread, definition: Definition, *, told: str = "", endings_only: bool = False
) -> Prompt:
    """The request for the turn's next reply: the branch that leads to its user message, and its own rounds so far.

    `told` stands below the notes; with `endings_only` no tools are on offer but those that end a turn.
    """
    path = branch(thread, turn_leaf(turn, thread))
    notes = [*(note(turn, thread) for note in _notes), told]
    system = "\n\n".join([system_text(thread, definition), *filter(None, notes)])
    messages: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(system)])]
    calls = _calls_by_message(path)
    for message in path:
        messages += _as_model_messages(message, calls.get(message.pk, []))
    offered = [tool for tool in tools_of(definition.tools) if tool.ends_turn or not endings_only]
    tools = [tool.define(definition, thread) for tool in offered]
    return Prompt(
        definition=definition,
        profile=resolve_profile(definition, thread),
        messages=messages,
        tools=[each for each in tools if each is not None],
    )


def turn_leaf(turn: Turn, thread: Thread) -> Message | None:
    """The newest message that the turn's next reply follows: its own last reply, or what it took in after that."""
    so_far = Q(role=Message.Role.USER) | Q(role=Message.Role.ASSISTANT, round__lt=turn.round)
    return Message.objects.filter(so_far, turn=turn).order_by("-sequence").first() or turn.user_message


def last_said(turn: Turn) -> Message | None:
    """What the turn was told last: a message that it took in on its way, else the one that started it."""
    return turn.messages.filter(role=Message.Role.USER).order_by("-sequence").first() or turn.user_message


def branch(thread: Thread, leaf: Message | None) -> list[Message]:
    """The messages from the first one to `leaf`, along their parents. One query, however long the thread."""
    rows = {
        message.pk: message
        for message in Message.objects.filter(thread=thread).exclude(role=Message.Role.TOOL).select_related("author")
    }
    path: list[Message] = []
    current = rows.get(leaf.pk) if leaf else None
    while current is not None and len(path) <= len(rows):
        path.append(current)
        current = rows.get(current.parent_id) if current.parent_id else None
    return path[::-1]


def system_text(thread: Thread, definition: Definition) -> str:
    """The system prompt: the sub-chat's own stored one (T-06), else the assistant's present instructions."""
    stored = Message.objects.filter(thread=thread, role=Message.Role.SYSTEM).order_by("sequence").first()
    return stored.text if stored else definition.instructions


def _calls_by_message(path: list[Message]) -> dict[object, list[ToolCall]]:
    found: dict[object, list[ToolCall]] = {}
    for call in ToolCall.objects.filter(message__in=[each.pk for each in path]).order_by("round", "index"):
        found.setdefault(call.message_id, []).append(call)
    return found


def _as_model_messages(message: Message, calls: list[ToolCall]) -> list[ModelMessage]:
    if message.role == Message.Role.USER:
        return [ModelRequest(parts=[UserPromptPart(message.text)])]
    if message.role != Message.Role.ASSISTANT or not (message.text or calls):
        return []
    settled = [call for call in calls if not call.is_open]
    parts: list[TextPart | ToolCallPart] = [TextPart(message.text)] if message.text else []
    # Only answered calls are repeated to a provider: an unmatched one would make the request invalid (I8).
    parts += [ToolCallPart(call.name, json.dumps(call.arguments), tool_call_id=_wire_id(call)) for call in settled]
    result: list[ModelMessage] = [ModelResponse(parts=parts)] if parts else []
    if settled:
        returns = [ToolReturnPart(call.name, shown_to_model(call.result), tool_call_id=_wire_id(call)) for call in settled]
        result.append(ModelRequest(parts=returns))
    return result


def _wire_id(call: ToolCall) -> str:
    """Our own id: providers repeat theirs, leave them out or make them 10 KB long (F25)."""
    return f"call_{call.pk.hex[:24]}"
