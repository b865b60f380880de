"""Reads what a model is given: the system prompt, the last user text, the tool results; and how many tokens that is."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

CHARS_PER_TOKEN = 4


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


def estimate_tokens(messages: Sequence[ModelMessage], tools: Sequence[ToolDefinition] = ()) -> int:
    """Guesses the tokens of a request as a quarter of its characters, for providers that report none."""
    chars = sum(len(text) for message in messages for text in _texts(message))
    chars += sum(len(tool.name) + len(tool.description or "") + _schema_chars(tool) for tool in tools)
    return estimate_chars(chars)


def estimate_chars(chars: int) -> int:
    """Guesses the tokens of a text of this length: a quarter, rounded up."""
    return -(-chars // CHARS_PER_TOKEN)


def _schema_chars(tool: ToolDefinition) -> int:
    return len(json.dumps(tool.parameters_json_schema))


def _texts(message: ModelMessage) -> Iterable[str]:
    if isinstance(message, ModelRequest) and message.instructions:
        yield message.instructions
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            yield user_text(part)
        elif isinstance(part, ToolReturnPart):
            yield part.model_response_str()
        elif isinstance(part, ToolCallPart):
            yield part.tool_name
            yield part.args_as_json_str()
        elif isinstance(part, SystemPromptPart | TextPart | ThinkingPart):
            yield part.content
