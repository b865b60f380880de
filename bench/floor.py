"""Drives the bare relay."""

import json
from pathlib import Path

from bench.marks import Heard
from bench.processes import FLOOR_PYTHON, Server, free_port
from bench.sides import Session, hear
from bench.wire import Browser


class Floor:
    """The relay as one side of the measurement."""

    name = "relay"

    def __init__(self, upstream: int, folder: Path) -> None:
        port = free_port()
        command = [FLOOR_PYTHON, "-m", "bench.relay", str(port), str(upstream)]
        self.server = Server(command, port=port, log=folder / "relay.log")

    async def open(self, person: int) -> Session:
        """Opens one person's socket."""
        browser = Browser(self.server.port)
        return Session(browser, await browser.listen("/"))

    async def ask(self, session: Session, heard: Heard, text: str) -> None:
        """Sends one message and hears the answer to its end."""
        await hear(session, heard, is_end=lambda frame: frame.startswith('{"done"'), send=self._send(session, text))

    async def _send(self, session: Session, text: str) -> None:
        session.socket.send(json.dumps({"text": text}))
