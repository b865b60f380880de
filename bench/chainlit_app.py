"""A Chainlit application that answers from the upstream and keeps nothing; it runs in an environment of its own."""

import os
from collections.abc import AsyncIterator

import chainlit
from openai import AsyncOpenAI

from bench.deltas import deltas

UPSTREAM = int(os.environ["BENCH_UPSTREAM"])
model = AsyncOpenAI(base_url=f"http://127.0.0.1:{UPSTREAM}/v1", api_key="none")


async def by_library(upstream: int, text: str) -> AsyncIterator[str]:
    """The deltas as the library that its documentation takes reads them."""
    messages = [{"role": "user", "content": text}]
    async for chunk in await model.chat.completions.create(model="bench", stream=True, messages=messages):
        if chunk.choices and (delta := chunk.choices[0].delta.content):
            yield delta


reader = deltas if os.environ["BENCH_READER"] == "raw" else by_library


@chainlit.on_message
async def answer(asked: chainlit.Message) -> None:
    """Streams one answer."""
    reply = chainlit.Message(content="")
    async for delta in reader(UPSTREAM, asked.content):
        await reply.stream_token(delta)
    await reply.update()
