"""Opens sockets as a page does, through the whole application."""

import asyncio
import time
from contextlib import asynccontextmanager
from typing import Any

from channels.testing import WebsocketCommunicator
from django.conf import settings

from taskmonkey.asgi import application

HOST = "localhost:8000"
ORIGIN = "http://localhost:8000"


def socket(chat_id: str, *, session: str = "", after: object = 0, **headers: str | None) -> WebsocketCommunicator:
    """A socket that is not opened yet. A header of None is left out."""
    sent: dict[str, str | None] = {"host": HOST, "origin": ORIGIN, **headers}
    if session:
        sent["cookie"] = f"{settings.SESSION_COOKIE_NAME}={session}"
    raw = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in sent.items() if value is not None]
    return WebsocketCommunicator(application, f"/ws/c/{chat_id}/?after={after}&lang=en", headers=raw)


async def first(opened: WebsocketCommunicator, *, seconds: float = 3) -> Any:
    """What comes first: False when it is refused before it is accepted, the code it is closed with, or a frame's text."""
    accepted, _ = await opened.connect(timeout=seconds)
    came = await following(opened, seconds=seconds) if accepted else False
    await opened.disconnect()
    return came


async def following(opened: WebsocketCommunicator, *, seconds: float = 3) -> Any:
    """The next thing that comes: a close code or a frame's text; None when nothing does."""
    try:
        # Not `receive_output`, which ends the application when nothing comes.
        came = await asyncio.wait_for(opened.output_queue.get(), seconds)
    except TimeoutError:
        return None
    return came.get("code") if came["type"] == "websocket.close" else came["text"]


async def closing(opened: WebsocketCommunicator, *, seconds: float) -> Any:
    """Lets frames go by until the socket is closed, and gives the code; None if it still is open."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        came = await following(opened, seconds=left)
        if not isinstance(came, str):
            return came
    return None


@asynccontextmanager
async def opening(*args: Any, **kwargs: Any):
    """A socket that is accepted, and closed at the end."""
    opened = socket(*args, **kwargs)
    accepted, _ = await opened.connect(timeout=60)
    assert accepted
    try:
        yield opened
    finally:
        await opened.disconnect()
