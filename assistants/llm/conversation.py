"""What a model is given, in the words of the library that speaks to providers, and read again out of those."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

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

from assistants.llm import request


@dataclass(frozen=True)
class Conversation:
    """One request to a model, flattened. `results` and `result` are the tool results since the last user text."""

    system: str = ""
    user: str = ""
    result: str = ""
    results: int = 0
    replies: int = 0
    replies_since_user: int = 0
    tools: frozenset[str] = frozenset()


def as_model_message(message: request.Message) -> ModelMessage:
    """The library's own form of a message."""
    match message:
        case request.System(text):
            return ModelRequest(parts=[SystemPromptPart(text)])
        case request.User(text):
            return ModelRequest(parts=[UserPromptPart(text)])
        case request.Answer(text, calls):
            parts: list[TextPart | ToolCallPart] = [TextPart(text)] if text else []
            parts += [ToolCallPart(call.name, call.arguments, tool_call_id=call.id) for call in calls]
            return ModelResponse(parts=parts)
        case request.Results(results):
            return ModelRequest(parts=[ToolReturnPart(each.name, each.text, tool_call_id=each.id) for each in results])
        case _:
            assert_never(message)


def as_model_tool(tool: request.ToolDefinition) -> ToolDefinition:
    """The library's own form of a tool."""
    return ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters_json_schema)


def read_conversation(messages: Sequence[ModelMessage], tools: Sequence[ToolDefinition] = ()) -> Conversation:
    """Flattens a request for whoever has to decide by it: scripted rules, the built-in engine, tests."""
    system: list[str] = []
    results: list[str] = []
    user, replies, replies_since_user = "", 0, 0
    for message in messages:
        if isinstance(message, ModelResponse):
            replies, replies_since_user = replies + 1, replies_since_user + 1
            continue
        system += [message.instructions] if message.instructions and message.instructions not in system else []
        for part in message.parts:
            if isinstance(part, SystemPromptPart):
                system.append(part.content)
            elif isinstance(part, UserPromptPart):
                user, results, replies_since_user = user_text(part), [], 0
            elif isinstance(part, ToolReturnPart):
                results.append(part.model_response_str())
    return Conversation(
        system="\n\n".join(system),
        user=user,
        result=results[-1] if results else "",
        results=len(results),
        replies=replies,
        replies_since_user=replies_since_user,
        tools=frozenset(tool.name for tool in tools),
    )


def user_text(part: UserPromptPart) -> str:
    """The words of a user's message, without what is attached to it."""
    if isinstance(part.content, str):
        return part.content
    return "\n".join(item if isinstance(item, str) else getattr(item, "content", "") for item in part.content or ())
