"""A provider's stream that hands its events on as they are, without gathering them a second time."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic_ai._special_tokens import StreamRestorer
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
from pydantic_ai.models import StreamedResponse

TEXT_PART, REASONING_PART, FIRST_CALL_PART = 0, 1, 2
# One of these may stand for the character by which the library breaks a token.
_INVISIBLE = re.compile(f"[{''.join(map(chr, (0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)))}]")


@dataclass
class EventStream(StreamedResponse):
    """Base of our own streams. Text is part 0, reasoning part 1, the calls follow from 2 on.

    The stock class keeps the whole reply a second time and looks at every event four times over. Whoever reads this
    stream gathers the reply itself, with bounds (F23).
    """

    _model_name: str
    _timestamp: datetime = field(default_factory=lambda: datetime.now(UTC), init=False)
    _started: set[int] = field(default_factory=set, init=False)

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        # Where a server may take chat-template tokens in a message for real ones, the library breaks them on the way
        # out by an invisible character (S32); on the way back that has to be undone.
        events, restorer = self._get_event_iterator(), self._parts_manager.special_token_restorer
        return restored(events, restorer) if restorer else events

    def text_event(self, delta: str) -> ModelResponseStreamEvent:
        """Wraps one piece of the answer."""
        if TEXT_PART in self._started:
            return PartDeltaEvent(index=TEXT_PART, delta=TextPartDelta(content_delta=delta))
        self._started.add(TEXT_PART)
        return PartStartEvent(index=TEXT_PART, part=TextPart(delta))

    def reasoning_event(self, delta: str) -> ModelResponseStreamEvent:
        """Wraps one piece of the reasoning."""
        if REASONING_PART in self._started:
            return PartDeltaEvent(index=REASONING_PART, delta=ThinkingPartDelta(content_delta=delta))
        self._started.add(REASONING_PART)
        return PartStartEvent(index=REASONING_PART, part=ThinkingPart(delta))

    def call_event(self, number: int, name: str, arguments: str, provider_id: str = "") -> ModelResponseStreamEvent:
        """Wraps one piece of the call with this number (0 is the reply's first call)."""
        index = FIRST_CALL_PART + number
        if index in self._started:
            return PartDeltaEvent(index=index, delta=ToolCallPartDelta(tool_name_delta=name, args_delta=arguments))
        self._started.add(index)
        return PartStartEvent(index=index, part=ToolCallPart(name, arguments, tool_call_id=provider_id))

    @property
    def model_name(self) -> str:
        return self._model_name

    @property
    def provider_name(self) -> str | None:
        return None

    @property
    def provider_url(self) -> str | None:
        return None

    @property
    def timestamp(self) -> datetime:
        return self._timestamp


async def restored(
    events: AsyncIterator[ModelResponseStreamEvent], restorer: StreamRestorer
) -> AsyncIterator[ModelResponseStreamEvent]:
    """Makes broken tokens whole again. Text without an invisible character goes by as it is, which is nearly all of it."""
    is_plain, last = True, None
    async for event in events:
        if isinstance(event, PartStartEvent):
            for held in restorer.flush_text():
                yield held
        text = _text_of(event)
        is_plain = is_plain and not _INVISIBLE.search(text)
        if is_plain and text and isinstance(event, PartDeltaEvent):
            last = event
            yield event
            continue
        if last:
            # A token may begin where it ends.
            restorer.restore(last)
            last = None
        yield restorer.restore(event)
    for held in restorer.flush():
        yield held


def _text_of(event: ModelResponseStreamEvent) -> str:
    if isinstance(event, PartDeltaEvent):
        return event.delta.content_delta if isinstance(event.delta, TextPartDelta) else ""
    return event.part.content if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart) else ""
