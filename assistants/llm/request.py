"""What a model is asked, as plain values: whoever makes them loads nothing of the library that speaks to providers."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class ToolDefinition:
    """A tool as a model is told of it: its arguments as JSON schema."""

    name: str
    description: str
    parameters_json_schema: dict[str, Any]


@dataclass(frozen=True)
class System:
    """What the platform tells the model."""

    text: str


@dataclass(frozen=True)
class User:
    """What a person, or another assistant, wrote."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call of an answer; `arguments` is JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """What the model answered before: text, calls, or both."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Result:
    """What the call with this id gave back."""

    id: str
    name: str
    text: str


@dataclass(frozen=True)
class Results:
    """The results of one answer's calls."""

    results: tuple[Result, ...]


Message = System | User | Answer | Results


def estimate_tokens(messages: Sequence[Message], tools: Sequence[ToolDefinition] = ()) -> int:
    """Guesses the tokens of a request as a quarter of its characters, for providers that report none."""
    chars = sum(len(text) for message in messages for text in _texts(message))
    chars += sum(len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters_json_schema)) for tool in tools)
    return estimate_chars(chars)


def estimate_chars(chars: int) -> int:
    """Guesses the tokens of a text of this length: a quarter, rounded up."""
    return -(-chars // CHARS_PER_TOKEN)


def _texts(message: Message) -> Iterable[str]:
    if isinstance(message, Results):
        yield from (result.text for result in message.results)
        return
    yield message.text
    if isinstance(message, Answer):
        for call in message.calls:
            yield call.name
            yield call.arguments
