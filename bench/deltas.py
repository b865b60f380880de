"""A streamed completion read by hand: no client library, one connection for each answer."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

try:
    from orjson import dumps, loads
except ImportError:
    import json

    loads = json.loads

    def dumps(value: Any) -> bytes:
        """JSON in bytes, as the faster library writes it."""
        return json.dumps(value, separators=(",", ":")).encode()


class Call(asyncio.Protocol):
    """One streamed completion; `take` is given the texts that one read of the upstream's socket brings."""

    def __init__(self, request: bytes, take: Callable[[list[str]], None], done: "asyncio.Future[None]") -> None:
        self._request, self._take, self._done = request, take, done
        self._rest = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        texts = []
        over = False
        for line in lines:
            if line.startswith(b"data: [DONE]"):
                over = True
            elif line.startswith(b"data: "):
                choices = loads(line[6:])["choices"]
                if text := choices and choices[0]["delta"].get("content"):
                    texts.append(text)
        if texts:
            self._take(texts)
        if over:
            self._transport.close()
            self._end(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._end(error or ConnectionError("the upstream hung up"))

    def _end(self, error: Exception | None) -> None:
        if self._done.done():
            return
        if error:
            self._done.set_exception(error)
        else:
            self._done.set_result(None)


async def read(upstream: int, text: str, take: Callable[[list[str]], None]) -> None:
    """Asks the upstream on that port, and hands on what it says until it has ended. Raises ConnectionError before that."""
    body = dumps({"model": "bench", "stream": True, "messages": [{"role": "user", "content": text}]})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    await loop.create_connection(lambda: Call(head.encode() + body, take, done), "127.0.0.1", upstream)
    await done


async def deltas(upstream: int, text: str) -> AsyncIterator[str]:
    """The same, one delta at a time."""
    heard: asyncio.Queue[str | None] = asyncio.Queue()

    def take(texts: list[str]) -> None:
        for each in texts:
            heard.put_nowait(each)

    reading = asyncio.create_task(read(upstream, text, take))
    reading.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        while (each := await heard.get()) is not None:
            yield each
        await reading
    finally:
        reading.cancel()
