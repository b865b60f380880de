"""The HTTP client that carries all calls to model providers: no redirects, no cookies, bounded bodies."""

import asyncio
import os
from collections.abc import AsyncIterator
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.request import getproxies

import httpx2

from assistants.desk import desk
from assistants.llm.network import Connection, Network
from assistants.llm.profile import TimeLimits

MAX_BODY_BYTES = 16 * 1024 * 1024
LIMITS = httpx2.Limits(max_connections=512, max_keepalive_connections=20, keepalive_expiry=30)
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
        # Behind a proxy that the environment names the library connects in its own way.
        transport=None if getproxies().keys() - {"no"} else _Transport(),
        timeout=http_timeout(TimeLimits()),
        limits=LIMITS,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
        event_hooks={"response": [_bound_body]},
    )


class _Transport(httpx2.AsyncHTTPTransport):
    def __init__(self) -> None:
        super().__init__(limits=LIMITS)
        # The library has no place where it takes one.
        self._pool._network_backend = Network()


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
    elif isinstance(connection := response.extensions.get("network_stream"), Connection):
        response.stream = _PacedBody(response.stream, connection)


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

    def __init__(self, body: httpx2.AsyncByteStream, connection: Connection) -> None:
        self._body, self._connection, self._next = body, connection, 0.0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        _PacedBody._open += 1
        self._connection.pace = self._pause
        try:
            async for chunk in self._body:
                yield chunk
        finally:
            _PacedBody._open -= 1
            # It may be used again, and then reads at once.
            self._connection.pace = None

    def _pause(self) -> float:
        """Seconds until the next read."""
        if _PacedBody._open <= FREE_STREAMS:
            return 0.0
        now, pause = asyncio.get_running_loop().time(), _PacedBody._open * READ_SECONDS
        pause = LONGEST_PAUSE if desk.is_crowded else min(pause, LONGEST_PAUSE)
        # One that has not been read for a while may be read twice at once: its first word waits for nothing.
        at, self._next = self._next, max(self._next, now - pause) + pause
        return at - now

    async def aclose(self) -> None:
        await self._body.aclose()
