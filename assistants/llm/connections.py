"""The HTTP client that carries all calls to model providers: no redirects, no cookies, bounded bodies."""

import asyncio
import os
from collections.abc import AsyncIterator
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx2

from assistants.desk import desk
from assistants.llm.profile import TimeLimits

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_CONNECTIONS = 512
# Seconds of the loop for one read and all that follows from it, up to the page, and as much again for everything else; up to
# ten streams are not held up at all, and none is for longer than a page's reader could see.
READ_SECONDS, FREE_STREAMS, LONGEST_PAUSE = 0.0015, 10, 0.1


class BodyTooLarge(httpx2.TransportError):
    """The provider sent more than any reply can be; reading was stopped there."""


@cache
def http_client() -> httpx2.AsyncClient:
    """The client of this process. It belongs to the stream loop: use it in coroutines given to `loop.submit`.

    Redirects are not followed, so that a key never travels to another host than its own, and cookies are not kept,
    so that tenants which share a provider share no session.
    """
    return httpx2.AsyncClient(
        timeout=http_timeout(TimeLimits()),
        limits=httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=20, keepalive_expiry=30),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
        event_hooks={"response": [_bound_body]},
    )


def http_timeout(limits: TimeLimits) -> httpx2.Timeout:
    """The transport's limits. Reading has none here: `deadlines` watches tokens, which say more than bytes."""
    return httpx2.Timeout(connect=limits.connect, read=None, write=60, pool=limits.connect)


async def _bound_body(response: httpx2.Response) -> None:
    """Bounds what is read as one whole: replies without streaming and error pages (F23). A stream is read at a pace."""
    whole = not response.headers.get("content-type", "").startswith("text/event-stream")
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        return
    if whole:
        response.stream = _BoundedBody(response.stream)
    elif network := response.extensions.get("network_stream"):
        response.stream = _PacedBody(response.stream, network)


# A forked process must not write to its parent's connections.
os.register_at_fork(after_in_child=http_client.cache_clear)


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise BodyTooLarge("too much was sent")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


class _PacedBody(httpx2.AsyncByteStream):
    """The more streams there are, the longer is it from one read to the next: what came meanwhile is read, drawn and sent
    at once, which costs hardly more than a single word of it."""

    _open = 0

    def __init__(self, body: httpx2.AsyncByteStream, network: Any) -> None:
        self._body, self._network, self._next = body, network, 0.0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._network.read = self._read
        _PacedBody._open += 1
        try:
            async for chunk in self._body:
                yield chunk
        finally:
            _PacedBody._open -= 1
            # The connection may be used again, and then reads by itself.
            del self._network.read

    async def _read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if (pause := self._next - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(pause)
        data: bytes = await type(self._network).read(self._network, max_bytes, timeout)
        if _PacedBody._open > FREE_STREAMS:
            pause = LONGEST_PAUSE if desk.is_crowded else min(_PacedBody._open * READ_SECONDS, LONGEST_PAUSE)
            # One that has not been read for a while may be read twice at once: its first word waits for nothing.
            self._next = max(self._next, asyncio.get_running_loop().time() - pause) + pause
        return data

    async def aclose(self) -> None:
        await self._body.aclose()
