"""One embedded server that can be started, armed, killed and restarted, its outside world, and a client of it."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

ROOT = Path(__file__).parents[2]
STARTS_WITHIN = 40


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(condition: Callable[[], Any], within: float, what: str) -> Any:
    """Polls until the condition is true and returns its value; fails with `what` after `within` seconds."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        with suppress(sqlite3.OperationalError):
            if value := condition():
                return value
        time.sleep(0.02)
    raise AssertionError(f"not within {within} s: {what}")


class Cluster:
    """The embedded profile: one process that serves and runs turns, on a database of its own."""

    def __init__(self, home: Path, template: Path, session: str) -> None:
        self.home, self.session = home, session
        shutil.copytree(template, home)
        self.port = free_port()
        self.ledger = home / "ledger.jsonl"
        self.process: subprocess.Popen[bytes] | None = None
        self.client = Client(self)

    def environment(self, failpoints: str = "") -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "VIRTUAL_ENV")}
        return {
            **kept,
            "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
            "PYTHONPATH": str(ROOT),
            "TASKMONKEY_HOME": str(self.home),
            "TASKMONKEY_SECRET_KEY": "faults",
            "TASKMONKEY_MODEL": "builtin",
            "TASKMONKEY_EXECUTOR": "inprocess",
            "TASKMONKEY_SQLITE_SYNCHRONOUS": "NORMAL",
            "TASKMONKEY_LEDGER": str(self.ledger),
            "TASKMONKEY_FAILPOINTS": failpoints,
        }

    def start(self, failpoints: str = "") -> float:
        """Starts the server and waits until it answers; returns the moment when it did."""
        command = [sys.executable, "manage.py", "serve", "--unsupervised", "--no-link", f"--port={self.port}"]
        with open(self.home / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment(failpoints), stdout=log, stderr=log, start_new_session=True
            )
        wait_for(self.answers, STARTS_WITHIN, f"the server answers; see {self.home}/server.log")
        return time.monotonic()

    def answers(self) -> bool:
        assert self.process and self.process.poll() is None, f"the server died; see {self.home}/server.log"
        with suppress(httpx2.HTTPError):
            return httpx2.get(f"{self.url}/healthz", timeout=2).status_code == 200
        return False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        assert self.process
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def wait_dead(self, within: float = 20) -> None:
        """Waits for the armed failpoint to kill the server."""
        assert self.process
        assert self.process.wait(within) == -signal.SIGKILL

    @contextmanager
    def database(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.home / "taskmonkey.sqlite3", timeout=20)
        connection.row_factory = sqlite3.Row
        try:
            yield connection
        finally:
            connection.close()

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self.database() as connection:
            return connection.execute(query, values).fetchall()

    def turns(self) -> list[sqlite3.Row]:
        return self.rows("select * from assistants_turn order by id")

    def quiet(self) -> bool:
        """Whether every turn has ended."""
        turns = self.turns()
        return bool(turns) and all(turn["state"] in ("done", "failed", "stopped") for turn in turns)

    def wait_quiet(self, within: float = 30) -> None:
        wait_for(self.quiet, within, f"all turns end: {[(t['id'], t['state'], t['reason']) for t in self.turns()]}")

    def texts(self, role: str) -> list[str]:
        rows = self.rows("select parts from assistants_message where role = ? order by thread_id, sequence", role)
        parts = [json.loads(row["parts"]) for row in rows]
        return ["".join(part.get("text", "") for part in each if part["type"] == "text") for each in parts]

    def effects(self, tool: str) -> int:
        """How often the tool has changed the outside world."""
        if not self.ledger.exists():
            return 0
        return sum(json.loads(line)["tool"] == tool for line in self.ledger.read_text().splitlines())


class Client:
    """A person's browser, as far as HTTP goes."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.token = uuid.uuid4().hex

    def post(self, path: str, **data: Any) -> httpx2.Response | None:
        """Sends a command; None when the server died meanwhile, so that nobody knows whether it was accepted."""
        cookies = {"sessionid": self.cluster.session, "csrftoken": self.token}
        headers = {"X-CSRFToken": self.token, "HX-Request": "true"}
        with suppress(httpx2.HTTPError):
            return httpx2.post(f"{self.cluster.url}{path}", data=data, cookies=cookies, headers=headers, timeout=20)
        return None

    def open(self, text: str, key: str) -> str | None:
        """Starts a conversation with the lead; its chat id, or None when the answer was lost."""
        lead = self.cluster.rows("select id from assistants_assistant where slug = 'lead'")[0]["id"]
        answer = self.post("/c/", assistant=lead, text=text, key=key)
        if answer is None:
            return None
        assert answer.status_code == 204, answer.text
        return str(answer.headers["HX-Redirect"].strip("/").split("/")[-1])
