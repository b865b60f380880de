"""Drives our application as a browser does: pages and commands by HTTP, with session and CSRF token, answers by websocket."""

import json
import re
import subprocess
import sys
import uuid
from pathlib import Path
from urllib.parse import urlencode

from bench.marks import Heard
from bench.processes import ROOT, Server, free_port
from bench.sides import Session, hear
from bench.wire import Browser

SEQ = re.compile(r'data-seq="(\d+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
# The state of a page at rest, as the socket sends it when a turn has ended; before the first turn there is no last one.
END = re.compile(r'id=\\?"state\\?" data-state=\\?"idle\\?" data-last=\\?"\w')
# In one process, as the measurements want it; as `make run` does; with PostgreSQL, Redis, two web processes and two workers.
HOW = {"process": ["serve", "--unsupervised"], "supervised": ["serve"], "team": ["team"]}


class Ours:
    """The application as one side of the measurement, with accounts for so many people and pages for each of them."""

    name = "taskmonkey"

    def __init__(
        self, upstream: int, folder: Path, *, people: int, chats: int, model: str = "bench", how: str = "process"
    ) -> None:
        self.folder, port = folder, free_port()
        environment = {"TASKMONKEY_HOME": str(folder / "home"), "TASKMONKEY_LOG_LEVEL": "WARNING"}
        made = folder / "people.json"
        inhabit = [sys.executable, "-m", "bench.inhabit", str(made), str(upstream), str(people), str(chats), model]
        command = [sys.executable, "manage.py", *HOW[how], "--no-link", f"--port={port}"]
        if how == "team":
            # Its database is there when it runs, and it leaves word where.
            self.server = Server(command, port=port, log=folder / "app.log", environment=environment)
            self.server.wait()
            inhabit = ["sh", "-c", '. "$0"; exec "$@"', str(folder / "home" / "team.env"), *inhabit]
        subprocess.run(inhabit, cwd=ROOT, env={**_plain_environment(), **environment}, check=True)
        if how != "team":
            self.server = Server(command, port=port, log=folder / "app.log", environment=environment)
        self._people = json.loads(made.read_text())
        self._next = [0] * people

    def browser(self, person: int) -> Browser:
        """The browser of somebody who is signed in."""
        return Browser(self.server.port, {"sessionid": self._people[person]["session"]})

    def chat(self, person: int) -> str:
        """The address of the person's next conversation, in which nothing was said yet."""
        chats = self._people[person]["chats"]
        self._next[person] += 1
        return f"/c/{chats[self._next[person] - 1]}/"

    async def open(self, person: int) -> Session:
        """Opens the page of a new conversation and its socket."""
        browser, address = self.browser(person), self.chat(person)
        page = (await browser.ask(address)).body.decode()
        seq, token = SEQ.search(page), TOKEN.search(page)
        if not seq or not token:
            raise ConnectionError(f"{address} is no conversation's page: {page[:200]}")
        browser.cookies["token"] = token[1]
        return Session(browser, await browser.listen(f"/ws{address}?after={seq[1]}&lang=en"), address)

    async def ask(self, session: Session, heard: Heard, text: str) -> None:
        """Posts one message as the page's form does and hears the answer to its end."""
        await hear(session, heard, is_end=lambda frame: END.search(frame) is not None, send=self._send(session, text))

    async def leave(self, person: int, text: str) -> None:
        """Posts one message in a new conversation and closes its page at once."""
        session = await self.open(person)
        await self._send(session, text)
        session.close()

    async def _send(self, session: Session, text: str) -> None:
        fields = {"text": text, "key": uuid.uuid4().hex}
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "HX-Request": "true",
            "X-CSRFToken": session.browser.cookies["token"],
            "Origin": session.browser.origin,
        }
        answer = await session.browser.ask(f"{session.address}send/", body=urlencode(fields).encode(), headers=headers)
        if answer.status != 204:
            raise ConnectionError(f"the message was not accepted: {answer.status} {answer.body[:200]!r}")


def _plain_environment() -> dict[str, str]:
    import os

    return dict(os.environ)
