"""Drives a Chainlit application by the few Socket.IO packets that its page sends."""

import asyncio
import json
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path

from bench.marks import Heard
from bench.processes import ROOT, Server, free_port
from bench.sides import Session, hear
from bench.wire import Browser, Socket

# An environment of its own; its packages do not go together with ours.
PYTHON = os.environ.get("BENCH_CHAINLIT_PYTHON", "")
READY, END = '42["clear_call_fn"', '42["task_end"'


class Packets(Socket):
    """A socket that speaks Engine.IO: pings come as packets of text and are answered."""

    def take(self, text: str) -> None:
        if text == "2":
            self.send("3")
        else:
            super().take(text)

    def emit(self, name: str, *values: object) -> None:
        """Sends an event."""
        self.send("42" + json.dumps([name, *values]))

    async def until(self, start: str) -> None:
        """Waits for a packet that starts so. Raises ConnectionError when the socket ends before."""
        seen = asyncio.Event()
        self.on_text = lambda packet: seen.set() if packet.startswith(start) else None
        broken = asyncio.create_task(self.ended())
        waits = asyncio.create_task(seen.wait())
        await asyncio.wait([broken, waits], return_when=asyncio.FIRST_COMPLETED)
        if not seen.is_set():
            raise ConnectionError(f"no {start}: {broken.result()}")
        broken.cancel()


class Chainlit:
    """Chainlit as one side; it signs nobody in and stores nothing. `reader` is `library` (openai) or `raw` (by hand)."""

    def __init__(self, upstream: int, folder: Path, *, reader: str) -> None:
        self.name = "chainlit" if reader == "library" else f"chainlit-{reader}"
        home = folder / self.name
        home.mkdir()
        port = free_port()
        app = str(ROOT / "bench" / "chainlit_app.py")
        command = [PYTHON, "-m", "chainlit", "run", app, "--headless", "--host=127.0.0.1", f"--port={port}"]
        environment = {
            "BENCH_READER": reader,
            "BENCH_UPSTREAM": str(upstream),
            "CHAINLIT_APP_ROOT": str(home),
            "PYTHONPATH": str(ROOT),
        }
        self.server = Server(command, port=port, log=folder / f"{self.name}.log", environment=environment)

    async def open(self, person: int) -> Session:
        """Opens the page's socket, up to where the page would take a message."""
        browser, session = Browser(self.server.port), str(uuid.uuid4())
        body = json.dumps({"session_id": session}).encode()
        await browser.ask("/set-session-cookie", body=body, headers={"Content-Type": "application/json"})
        socket = Packets(*await browser.line("/ws/socket.io/?EIO=4&transport=websocket"))
        await socket.until("0")
        about = {"clientType": "webapp", "sessionId": session, "threadId": "", "userEnv": "{}", "chatProfile": ""}
        socket.send("40" + json.dumps(about))
        await socket.until("40")
        socket.emit("connection_successful")
        await socket.until(READY)
        return Session(browser, socket)

    async def ask(self, session: Session, heard: Heard, text: str) -> None:
        """Sends one message and hears the answer to its end."""
        await hear(session, heard, is_end=lambda packet: packet.startswith(END), send=self._send(session, text))

    async def _send(self, session: Session, text: str) -> None:
        assert isinstance(session.socket, Packets)
        message = {
            "threadId": "",
            "id": str(uuid.uuid4()),
            "name": "User",
            "type": "user_message",
            "output": text,
            "createdAt": datetime.now(UTC).isoformat(),
            "metadata": {"location": session.browser.origin},
        }
        session.socket.emit("client_message", {"message": message, "fileReferences": []})
