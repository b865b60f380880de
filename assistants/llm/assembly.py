"""Gathers one reply out of a stream's events, cleaned and within bounds."""

import json
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from assistants.failpoints import failpoint
from assistants.llm.plain_text import TextCleaner, clean_text
from assistants.llm.reply import Reply, RequestedCall, Sink

MAX_TEXT_CHARS = 2 * 1024 * 1024
MAX_ARGUMENT_CHARS = 1024 * 1024
MAX_CALLS = 32
MAX_ID_CHARS = 128
MAX_NAME_CHARS = 200
# Arguments of which nothing was read before the cut. Empty text would mean "no arguments" and let the call run (F20).
CUT_ARGUMENTS = "{"


class BoundedText:
    """A growing, cleaned text that takes no more than `limit` characters."""

    def __init__(self, limit: int) -> None:
        # A list of a million one-character pieces costs 50 times what this buffer does.
        self._buffer = StringIO()
        self._cleaner = TextCleaner()
        self._room = limit
        self.cut = False

    def add(self, delta: str) -> str:
        """Appends the delta and gives what was really added."""
        return self._keep(self._cleaner.feed(delta))

    def close(self) -> str:
        """Ends the text and gives what was still held back."""
        return self._keep(self._cleaner.close())

    def value(self) -> str:
        return self._buffer.getvalue()

    def _keep(self, text: str) -> str:
        if len(text) > self._room:
            self.cut, text = True, text[: self._room]
        self._room -= len(text)
        self._buffer.write(text)
        return text


@dataclass
class _Call:
    provider_id: str
    name: str
    arguments: BoundedText = field(default_factory=lambda: BoundedText(MAX_ARGUMENT_CHARS))


class ReplyInProgress:
    """The reply so far. `cut` turns true as soon as a bound is reached: then nothing more should be read (F23)."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._text = BoundedText(MAX_TEXT_CHARS)
        self._reasoning = BoundedText(MAX_TEXT_CHARS)
        self._calls: dict[int, _Call] = {}
        self._begun = False
        self.cut = False

    def take(self, event: ModelResponseStreamEvent) -> None:
        """Takes one event of the stream; passes text and reasoning on to the sink."""
        if isinstance(event, PartDeltaEvent):
            self._take_delta(event)
        elif isinstance(event, PartStartEvent):
            self._take_start(event)
        else:
            return
        failpoint("llm.mid_stream" if self._begun else "llm.first_delta")
        self._begun = True

    def text(self) -> str:
        """The answer so far."""
        return self._text.value()

    def finished(self, finish: str, *, input_tokens: int, output_tokens: int, estimated: bool) -> Reply:
        """Closes the reply. A call that was cut off before its arguments began is made unreadable, so it never runs."""
        self._flush()
        calls = [
            RequestedCall(
                clean_text(call.provider_id)[:MAX_ID_CHARS],
                clean_text(call.name),
                call.arguments.value() + call.arguments.close(),
            )
            for call in self._calls.values()
        ]
        if finish == "length" and calls and not calls[-1].arguments.strip():
            calls[-1] = RequestedCall(calls[-1].provider_id, calls[-1].name, CUT_ARGUMENTS)
        if finish in {"stop", "tool_calls"}:
            finish = "tool_calls" if calls else "stop"
        return Reply(self.text(), self._reasoning.value(), tuple(calls), input_tokens, output_tokens, finish, estimated)

    def length(self) -> int:
        """Characters written so far, of every kind."""
        written = len(self._text.value()) + len(self._reasoning.value())
        return written + sum(len(call.name) + len(call.arguments.value()) for call in self._calls.values())

    def _take_start(self, event: PartStartEvent) -> None:
        part = event.part
        if isinstance(part, TextPart):
            self._add_text(part.content)
        elif isinstance(part, ThinkingPart):
            self._add_reasoning(part.content)
        elif isinstance(part, ToolCallPart):
            self._start_call(event.index, part)

    def _take_delta(self, event: PartDeltaEvent) -> None:
        delta = event.delta
        if isinstance(delta, TextPartDelta):
            self._add_text(delta.content_delta)
        elif isinstance(delta, ThinkingPartDelta):
            self._add_reasoning(delta.content_delta or "")
        elif isinstance(delta, ToolCallPartDelta) and (call := self._calls.get(event.index)):
            call.name = (call.name + (delta.tool_name_delta or ""))[:MAX_NAME_CHARS]
            call.arguments.add(_as_text(delta.args_delta))
            self.cut = self.cut or call.arguments.cut

    def _start_call(self, index: int, part: ToolCallPart[Any]) -> None:
        if index not in self._calls and len(self._calls) >= MAX_CALLS:
            self.cut = True
            return
        call = _Call(part.tool_call_id, part.tool_name[:MAX_NAME_CHARS])
        call.arguments.add(_as_text(part.args))
        self._calls[index] = call
        self.cut = self.cut or call.arguments.cut

    def _add_text(self, delta: str) -> None:
        if added := self._text.add(delta):
            self._sink.on_text(added)
        self.cut = self.cut or self._text.cut

    def _add_reasoning(self, delta: str) -> None:
        if added := self._reasoning.add(delta):
            self._sink.on_reasoning(added)
        self.cut = self.cut or self._reasoning.cut

    def _flush(self) -> None:
        if rest := self._text.close():
            self._sink.on_text(rest)
        if rest := self._reasoning.close():
            self._sink.on_reasoning(rest)


def _as_text(arguments: str | dict[str, Any] | None) -> str:
    """The raw text of arguments; a missing key counts as empty text (J4)."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
