"""The floor of our own stack, served by Daphne: a Channels consumer that forwards deltas, no record and no drawing."""

import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import django
from django.conf import settings

settings.configure(SECRET_KEY="bench", ALLOWED_HOSTS=["*"], INSTALLED_APPS=["channels"])
django.setup()

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402 - the settings must stand
from channels.routing import ProtocolTypeRouter  # noqa: E402

from bench.deltas import deltas  # noqa: E402

UPSTREAM = int(os.environ["BENCH_UPSTREAM"])


class Relay(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Takes {"text"} and answers with {"t"} for every delta, then {"done"}, as the bare relay does."""

    async def receive(self, text_data: str = "", bytes_data: bytes | None = None) -> None:
        """Answers one message."""
        async for text in deltas(UPSTREAM, json.loads(text_data)["text"]):
            await self.send(json.dumps({"t": text}))
        await self.send('{"done":true}')


async def ready(scope: dict[str, Any], receive: object, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
    """Answers 200 to whatever is asked."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


application = ProtocolTypeRouter({"http": ready, "websocket": Relay.as_asgi()})
