"""Asks a model in a test: what was streamed, what came of it, or how it failed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from assistants.llm.loop import submit
from assistants.llm.profile import Profile
from assistants.llm.reply import ModelError, Reply
from assistants.llm.request import Answer, Call, Message, Result, Results, System, ToolDefinition, User
from assistants.llm.stream import stream_reply

ADD = ToolDefinition(
    name="add", description="Adds.", parameters_json_schema={"type": "object", "properties": {"a": {"type": "integer"}}}
)


@dataclass
class RecordingSink:
    """Keeps every delta."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)

    def on_text(self, delta: str) -> None:
        self.text.append(delta)

    def on_reasoning(self, delta: str) -> None:
        self.reasoning.append(delta)


def user(text: str, *, system: str = "You help.") -> list[Message]:
    """A conversation that begins."""
    return [System(system), User(text)]


def answered(text: str) -> Answer:
    """An answer given before."""
    return Answer(text)


def called(name: str, result: str, call_id: str = "c1") -> list[Message]:
    """A call made before, with its result."""
    return [Answer("", (Call(call_id, name, "{}"),)), Results((Result(call_id, name, result),))]


def ask(
    profile: Profile,
    messages: list[Message] | None = None,
    *,
    tools: Sequence[ToolDefinition] = (),
    sink: RecordingSink | None = None,
) -> Reply:
    """Asks once and waits for the whole reply."""
    return submit(stream_reply(profile, messages or user("hi"), list(tools), sink or RecordingSink())).result(60)


def ask_in_vain(profile: Profile, messages: list[Message] | None = None, sink: RecordingSink | None = None) -> ModelError:
    """Asks once and gives the error that comes of it."""
    try:
        reply = ask(profile, messages, sink=sink)
    except ModelError as error:
        return error
    raise AssertionError(f"there was a reply: {reply}")
