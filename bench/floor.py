"""Drives what only forwards deltas: the bare relay, and the same by Channels under Daphne."""

import json
import sys
from pathlib import Path

from bench.marks import Heard
from bench.processes import FLOOR_PYTHON, Server, free_port
from bench.sides import Session, hear
from bench.wire import Browser


class Floor:
    """The relay as one side of the measurement."""

    name = "relay"

    def __init__(self, upstream: int, folder: Path) -> None:
        self.server = self._start(free_port(), upstream, folder)

    def _start(self, port: int, upstream: int, folder: Path) -> Server:
        command = [FLOOR_PYTHON, "-m", "bench.relay", str(port), str(upstream)]
        return Server(command, port=port, log=folder / "relay.log")

    async def open(self, person: int) -> Session:
        """Opens one person's socket."""
        browser = Browser(self.server.port)
        return Session(browser, await browser.listen("/"))

    async def ask(self, session: Session, heard: Heard, text: str) -> None:
        """Sends one message and hears the answer to its end."""
        await hear(session, heard, is_end=lambda frame: frame.startswith('{"done"'), send=self._send(session, text))

    async def _send(self, session: Session, text: str) -> None:
        session.socket.send(json.dumps({"text": text}))


class Channels(Floor):
    """Channels and Daphne without anything of ours: what the stack alone costs."""

    name = "channels"

    def _start(self, port: int, upstream: int, folder: Path) -> Server:
        command = [sys.executable, "-m", "daphne", "-b127.0.0.1", f"-p{port}", "-v0", "bench.bare_channels:application"]
        environment = {"BENCH_UPSTREAM": str(upstream)}
        return Server(command, port=port, log=folder / "channels.log", environment=environment)
