"""What the two sides of a measurement have in common: a session, and hearing one answer to its end."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from bench.marks import Heard, now_us
from bench.processes import Server
from bench.wire import Browser, Socket


@dataclass(frozen=True)
class Session:
    """One person with one open page: the browser, the page's socket, and for the application the conversation's address."""

    browser: Browser
    socket: Socket
    address: str = ""

    def close(self) -> None:
        """Closes the page."""
        self.socket.close()
        self.browser.hang_up()


class Side(Protocol):
    """The relay or the application: started, opened by many, asked."""

    name: str
    server: Server

    async def open(self, person: int) -> Session:
        """Opens a page, up to the moment from which a person could write."""

    async def ask(self, session: Session, heard: Heard, text: str) -> None:
        """Sends one message and hears the answer to its end."""


async def hear(session: Session, heard: Heard, *, is_end: Callable[[str], bool], send: Awaitable[None]) -> None:
    """Notes every frame from the sending on, until one says that the answer is over. Raises ConnectionError before that."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(frame: str) -> None:
        heard.note(frame)
        if is_end(frame) and not over.done():
            over.set_result(None)

    session.socket.on_text = take
    broken = asyncio.create_task(session.socket.ended())
    heard.sent = now_us()
    await send
    await asyncio.wait([over, broken], return_when=asyncio.FIRST_COMPLETED)
    if not over.done():
        raise ConnectionError(f"the socket ended: {broken.result()}")
    broken.cancel()
    heard.ended = now_us()


async def ask_in_time(side: Side, session: Session, heard: Heard, text: str, *, seconds: float) -> None:
    """Asks once; what goes wrong is a result too and is noted."""
    try:
        async with asyncio.timeout(seconds):
            await side.ask(session, heard, text)
    except (ConnectionError, TimeoutError, asyncio.IncompleteReadError) as error:
        heard.error = f"{type(error).__name__}: {error}"[:200]
