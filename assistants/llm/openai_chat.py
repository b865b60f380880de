"""OpenAI and every server that speaks like it: the stock model for what is sent, an own reader for what comes back."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2
from openai import AsyncOpenAI, AsyncStream
from openai.types import chat
from openai.types.chat import ChatCompletionChunk
from pydantic_ai._model_errors import stream_error
from pydantic_ai.messages import FinishReason, ModelResponseStreamEvent
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.usage import RequestUsage

from assistants.llm.event_lines import EventParser, EventTooLong, UnreadableEvent
from assistants.llm.event_stream import EventStream
from assistants.llm.openai_calls import CallSlots
from assistants.llm.think_tags import ThinkTags

# How long the token counts may follow a finished answer, in seconds. A server that then neither sends nor closes
# must not turn a whole answer into a time-out.
REST_SECONDS = 2.0

FINISH: dict[str, FinishReason] = {
    "length": "length", "max_tokens": "length", "model_length": "length",
    "tool_calls": "tool_call", "function_call": "tool_call", "content_filter": "content_filter",
    "error": "error", "abort": "error", "insufficient_system_resource": "error",
}  # fmt: skip

# What servers other than OpenAI's own understand: one system message, the older name of the token limit.
COMPATIBLE = OpenAIModelProfile(
    openai_chat_supports_max_completion_tokens=False,
    openai_chat_supports_multiple_system_messages=False,
    openai_supports_strict_tool_definition=False,
)


class OpenAIChat(OpenAIChatModel):
    """Chat completions. `compatible` says that the server is not OpenAI's own."""

    def __init__(self, model_name: str, client: AsyncOpenAI, *, compatible: bool) -> None:
        if compatible:
            provider = OpenAICompatibleProvider("compatible", openai_client=client, profile=COMPATIBLE)
            super().__init__(model_name, provider=provider)
        else:
            super().__init__(model_name, provider=OpenAIProvider(openai_client=client))

    async def _process_streamed_response(  # type: ignore[override]
        self,
        response: AsyncStream[ChatCompletionChunk],
        model_request_parameters: ModelRequestParameters,
        model_settings: OpenAIChatModelSettings | None = None,
    ) -> "ChatStream":
        return ChatStream(
            model_request_parameters=model_request_parameters, _model_name=self.model_name, _response=response.response
        )

    def _validate_completion(self, response: chat.ChatCompletion) -> Any:
        """Fills in what servers leave out of a reply without streaming; arguments may be missing there too (J4)."""
        slots = CallSlots()
        for choice in response.choices or ():
            calls: Sequence[Any] = choice.message.tool_calls or ()
            for position, call in enumerate(calls):
                piece = slots.place(call.model_dump(warnings=False), position)
                call.id, call.type = piece.provider_id or f"call_{position}", "function"
                call.function.arguments = piece.arguments
        return super()._validate_completion(response)


@dataclass
class ChatStream(EventStream):
    """Reads the stream's bytes itself.

    The SDK refuses bad UTF-8, holds a line of any length in memory and costs ten times as much for each delta
    (F21, F23); a contract test keeps this reader equal to the stock one where both work.
    """

    _response: httpx2.Response
    _calls: CallSlots = field(default_factory=CallSlots, init=False)
    _tags: ThinkTags = field(default_factory=ThinkTags, init=False)

    async def close_stream(self) -> None:
        await self._response.aclose()

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        parser = EventParser()
        try:
            async with aclosing(self._response.aiter_bytes()) as chunks:
                async for chunk in chunks:
                    for data in parser.feed(chunk):
                        for event in self._events(data):
                            yield event
                    if parser.done or self.finish_reason:
                        break
                if self.finish_reason:
                    await self._read_rest(parser, chunks)
            for event in () if self.finish_reason else self._last_words(parser):
                yield event
        except EventTooLong:
            self.finish_reason = "length"
        for is_reasoning, piece in self._tags.close():
            yield self._piece(is_reasoning, piece)

    async def _read_rest(self, parser: EventParser, chunks: AsyncIterator[bytes]) -> None:
        """Reads the token counts behind a finished answer. Whatever goes wrong now, the answer stays whole (F20)."""
        with suppress(TimeoutError, httpx2.TransportError, UnreadableEvent):
            async with asyncio.timeout(REST_SECONDS):
                async for chunk in chunks:
                    for data in parser.feed(chunk):
                        self._count(data)

    def _last_words(self, parser: EventParser) -> Iterator[ModelResponseStreamEvent]:
        for data in parser.close():
            yield from self._events(data)
        if parser.done and self._started and not self.finish_reason:
            # Some servers name no reason, but do say that they are done (R4).
            self.finish_reason = "stop"

    def _events(self, data: Any) -> Iterator[ModelResponseStreamEvent]:
        if not isinstance(data, Mapping):
            return
        if error := data.get("error"):
            body = error if isinstance(error, Mapping) else {"message": str(error)}
            raise stream_error(self._model_name, str(body.get("message", "")), dict(body))
        self._count(data)
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return
        # A server that does not stream at all sends a whole message where the delta should be.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            yield from self._delta_events(delta)
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self.finish_reason = FINISH.get(reason, "stop")

    def _delta_events(self, delta: Mapping[str, Any]) -> Iterator[ModelResponseStreamEvent]:
        # Servers that send both names send the same text twice (R5); a refusal is said in place of an answer.
        if reasoning := _text(delta.get("reasoning")) or _text(delta.get("reasoning_content")):
            yield self.reasoning_event(reasoning)
        if text := _text(delta.get("content")) or _text(delta.get("refusal")):
            for is_reasoning, piece in self._tags.feed(text):
                if piece:
                    yield self._piece(is_reasoning, piece)
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, Mapping):
                placed = self._calls.place(call, position)
                yield self.call_event(placed.number, placed.name, placed.arguments, placed.provider_id)

    def _piece(self, is_reasoning: bool, piece: str) -> ModelResponseStreamEvent:
        return self.reasoning_event(piece) if is_reasoning else self.text_event(piece)

    def _count(self, data: Any) -> None:
        usage = data.get("usage") if isinstance(data, Mapping) else None
        if isinstance(usage, Mapping):
            self._usage = RequestUsage(
                input_tokens=_number(usage.get("prompt_tokens")), output_tokens=_number(usage.get("completion_tokens"))
            )


def _text(content: Any) -> str:
    """The text of a content field, which some servers send as a list of parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) if isinstance(part, Mapping) else _text(part) for part in content)
    return content if isinstance(content, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
