"""Daphne that tells readers at once, waits for those who are slow, and lets go of those who read nothing any more (F27)."""

import asyncio
import logging
from contextlib import suppress
from typing import Any

from autobahn.exception import Disconnected
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings

from assistants import clock

log = logging.getLogger(__name__)
TOO_SLOW = 4408
# Seconds: a reader who takes in nothing for so long is cut off, and catches up when it comes back.
PATIENCE = 10.0
LOOK = 0.05
# Seconds that a page's socket may take to open: when a thousand pages come back at once after a restart, some stand in line for
# longer than the five of Daphne's library, and would come back again and again.
HANDSHAKE = 30


class PromptSocket(WebSocketProtocol):  # type: ignore[misc]
    """A page's socket. What it says goes to the kernel at once, as long as that takes it.

    Twisted's own way asks the kernel to say when it is ready, and takes that back when all is written. Each time the
    interpreter is free for other threads, and the loop stands in line behind them.
    """

    def __init__(self) -> None:
        super().__init__()
        # Its senders keep their order.
        self.order = asyncio.Lock()

    def sendData(self, data: bytes, sync: bool = False, chopsize: int | None = None) -> None:  # noqa: N802 - Autobahn's
        """Sends bytes as they are."""
        to = self.transport
        if sync or chopsize or self.send_queue or not to.connected or to.disconnecting or unsent(to):
            super().sendData(data, sync, chopsize)
            return
        self.trafficStats.outgoingOctetsWireLevel += len(data)
        sent = to.writeSomeData(data)
        # A connection that is lost says so once more to whoever waits for it to be writable.
        rest = data[sent:] if isinstance(sent, int) else data
        if rest:
            to.write(rest)


class PatientServer(Server):  # type: ignore[misc]
    """Holds a socket's sender back while too much waits for its reader, so that a slow one costs bounded memory: text that
    grows meanwhile is sent as one piece, and events are read from the record when their turn comes."""

    def __init__(self, **given: Any) -> None:
        super().__init__(websocket_handshake_timeout=HANDSHAKE, websocket_connect_timeout=HANDSHAKE, **given)

    def run(self) -> None:
        """Serves until it is stopped."""
        WebSocketFactory.protocol = PromptSocket
        super().run()

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Passes a message on to its reader."""
        if message["type"] != "websocket.send":
            await super().handle_reply(protocol, message)
            return
        async with protocol.order:
            if unsent(protocol.transport) > settings.TASKMONKEY["SOCKET_QUEUE_BYTES"] and not await self._drained(protocol):
                log.warning("a socket whose reader took in nothing for %d s is closed with %d", PATIENCE, TOO_SLOW)
                protocol.serverClose(TOO_SLOW)
                return
            # One that has just gone is not told any more; that it is gone comes to its sender by itself.
            with suppress(Disconnected):
                await super().handle_reply(protocol, message)

    async def _drained(self, protocol: Any) -> bool:
        """Waits until the reader has taken in enough. False once it has taken in nothing for a while."""
        lowest, since = unsent(protocol.transport), clock.monotonic()
        while (waiting := unsent(protocol.transport)) > settings.TASKMONKEY["SOCKET_QUEUE_BYTES"]:
            if waiting < lowest:
                lowest, since = waiting, clock.monotonic()
            if clock.monotonic() - since > PATIENCE:
                return False
            await asyncio.sleep(LOOK)
        return True


def unsent(transport: Any) -> int:
    """Bytes that were written for a connection and that the kernel has not taken yet."""
    return len(transport.dataBuffer) - transport.offset + int(transport._tempDataLen) if transport else 0
