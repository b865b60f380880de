"""The HTTP client that carries all calls to model providers: no redirects, no cookies, bounded bodies."""

import os
from collections.abc import AsyncIterator
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx2

from assistants.llm.profile import TimeLimits

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_CONNECTIONS = 512


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
    """Bounds what is read as one whole: replies without streaming and error pages (F23)."""
    whole = not response.headers.get("content-type", "").startswith("text/event-stream")
    if whole and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _BoundedBody(response.stream)


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
