"""Tokens that were broken on the way out become whole as the library makes them, whatever goes by untouched (S32)."""

import asyncio
from collections.abc import AsyncIterator, Callable

from hypothesis import given
from hypothesis import strategies as some
from pydantic_ai._special_tokens import StreamRestorer, restore_special_tokens_in_stream
from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from assistants.llm.event_stream import restored

Events = AsyncIterator[ModelResponseStreamEvent]
TEXTS = some.lists(
    some.sampled_from(["<", "|im_start|>", "<|im_end|>", "[", "INST]", "]", "~b]", "a ", "\u200d", "\u200b", "\ufeff"]),
    max_size=12,
).map("".join)
ODD = [
    PartDeltaEvent(index=1, delta=ThinkingPartDelta(content_delta="hm")),
    PartStartEvent(index=2, part=ToolCallPart("add", '{"a": "<\u200d|im_')),
    PartDeltaEvent(index=2, delta=ToolCallPartDelta(args_delta='start|>"}')),
]


async def written(
    restore: Callable[[Events, StreamRestorer], Events], events: list[ModelResponseStreamEvent]
) -> dict[int, str]:
    """What each part says in the end."""

    async def sent() -> Events:
        for event in events:
            yield event

    parts: dict[int, str] = {}
    async for event in restore(sent(), StreamRestorer()):
        said = event.part if isinstance(event, PartStartEvent) else event.delta
        for name in ("content", "args", "content_delta", "args_delta"):
            parts[event.index] = parts.get(event.index, "") + (getattr(said, name, "") or "")
    return parts


@given(text=TEXTS, sizes=some.lists(some.integers(1, 5), min_size=1), others=some.lists(some.sampled_from(ODD), max_size=3))
def test_s32_the_same_as_the_librarys_own_way(text, sizes, others):
    events: list[ModelResponseStreamEvent] = []
    while text:
        size = sizes[len(events) % len(sizes)]
        piece, text = text[:size], text[size:]
        delta = PartDeltaEvent(index=0, delta=TextPartDelta(content_delta=piece))
        events.append(delta if events else PartStartEvent(index=0, part=TextPart(piece)))
    for number, other in enumerate(others):
        events.insert(min(len(events), 1 + 2 * number), other)

    ours, theirs = asyncio.run(written(restored, events)), asyncio.run(written(restore_special_tokens_in_stream, events))

    assert ours == theirs


async def test_text_is_not_held_back():
    delta = PartDeltaEvent(index=0, delta=TextPartDelta(content_delta="<"))

    async def sent() -> Events:
        yield PartStartEvent(index=0, part=TextPart("a"))
        yield delta

    assert [event async for event in restored(sent(), StreamRestorer())][1] is delta
