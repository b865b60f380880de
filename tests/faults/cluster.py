"""The processes of one site, embedded or full: started, armed, killed, stopped and started again, and what they recorded."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2

from tests.faults.nursery import ROOT, Child, Nursery
from tests.faults.people import Client
from tests.faults.stores import PostgresData, Redis, Row, SqliteData, wait_for

__all__ = ["PROFILES", "Cluster", "wait_for"]

# Which processes play a role. In the embedded profile one process plays all.
PROFILES = {
    "embedded": {"web": ["server"], "worker": ["server"]},
    "full": {"web": ["web1", "web2"], "worker": ["worker1", "worker2"]},
}
# The times of reliability D4 at about a quarter, so that a take-over takes two or three seconds.
SCALED = {"HEARTBEAT": "0.5", "LEASE": "2", "SWEEP": "0.5", "LOOK": "0.5"}
SHIPPED = {"HEARTBEAT": "3", "LEASE": "10", "SWEEP": "5", "LOOK": "2.5"}
FINAL = ("done", "failed", "stopped")
STARTS_WITHIN = 60


class Cluster:
    """One site with a database of its own. `times` are the seconds of heartbeat, lease, sweep and look."""

    def __init__(
        self,
        profile: str,
        home: Path,
        sessions: dict[str, str],
        *,
        nursery: Nursery,
        data: SqliteData | PostgresData,
        redis: Redis | None = None,
        times: dict[str, str] = SCALED,
        **more: str,
    ) -> None:
        self.profile, self.home, self.sessions, self.data, self.redis = profile, home, sessions, data, redis
        self.nursery, self.times, self.more = nursery, times, more
        self.roles = PROFILES[profile]
        self.ledger, self.log = home / "ledger.jsonl", home / "server.log"
        self.children: dict[str, Child] = {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.client = Client(self, "alice")

    @property
    def names(self) -> list[str]:
        """All processes, workers first."""
        return list(dict.fromkeys([*self.roles["worker"], *self.roles["web"]]))

    def environment(self, name: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "VIRTUAL_ENV")}
        folder = self._armed(name)
        folder.mkdir(exist_ok=True)
        own = {
            "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
            "PYTHONPATH": str(ROOT),
            "PORT": self.url.rpartition(":")[2],
            "TASKMONKEY_HOME": str(self.home),
            "TASKMONKEY_SECRET_KEY": "faults",
            "TASKMONKEY_MODEL": "builtin",
            "TASKMONKEY_EXECUTOR": "celery" if self.redis else "inprocess",
            "TASKMONKEY_SQLITE_SYNCHRONOUS": "NORMAL",
            "TASKMONKEY_LEDGER": str(self.ledger),
            "TASKMONKEY_FAILPOINTS_FOLDER": str(folder),
            "TEST_CLOCK_FILE": str(self.home / f"clock-{name}"),
            **{f"TASKMONKEY_{what}_SECONDS": seconds for what, seconds in self.times.items()},
        }
        if self.redis:
            own |= {"REDIS_URL": self.redis.url, "TASKMONKEY_WEB_PROCESSES": str(len(self.roles["web"]))}
        return kept | own | self.data.environment | self.more

    def _armed(self, name: str) -> Path:
        return self.home / f"armed-{name.rstrip('0123456789')}"

    # --- processes ---------------------------------------------------------------------------------------------------
    def start(self, *which: str) -> float:
        """Starts the processes (or roles) that do not live, all by default; returns the moment when the site answered."""
        if self.redis:
            self.redis.start()
        for name in self._names(which):
            if not self.lives(name):
                work = (
                    ["work", f"--slot={name}"] if name.startswith("worker") else ["serve", "--skip-checks", "--listener-fd={0}"]
                )
                handles = [] if name.startswith("worker") else [self.listener.fileno()]
                self.children[name] = self.nursery.start(work, self.environment(name), self.log, handles)
        wait_for(self.answers, STARTS_WITHIN, f"the site answers; see {self.log}")
        return time.monotonic()

    def answers(self) -> bool:
        dead = [name for name in self.children if not self.lives(name)]
        assert not set(self.roles["web"]) <= set(dead), f"{dead} died; see {self.log}"
        with suppress(httpx2.HTTPError):
            return self.client.get("/healthz").status_code == 200
        return False

    def wait_ready(self) -> None:
        """Waits until every worker has told the database that it is there."""
        beating = "select holder from assistants_runner"
        workers = [name for name in self.roles["worker"] if self.lives(name)]

        def all_beat() -> bool:
            holders = [str(row["holder"]) for row in self.rows(beating)]
            pids = {str(self.children[name].pid) for name in workers}
            return all(any(f":{pid}-" in holder for holder in holders) for pid in pids)

        wait_for(all_beat, STARTS_WITHIN, f"all workers beat; see {self.log}")

    def _names(self, which: Iterable[str]) -> list[str]:
        names = [name for each in which for name in self.roles.get(each, [each])] or self.names
        return [name for name in self.names if name in names]

    def lives(self, name: str) -> bool:
        return name in self.children and self.children[name].poll() is None

    def signal(self, number: int, *which: str) -> None:
        """Sends a signal to the living processes of these names or roles; to all by default."""
        for name in self._names(which):
            if self.lives(name):
                self.children[name].send(number)

    def kill9(self, *which: str) -> None:
        """Kills them at once and waits until they are gone."""
        self.signal(signal.SIGKILL, *which)
        self.wait_gone(*which, within=10)

    def stop(self, *which: str) -> None:
        self.signal(signal.SIGSTOP, *which)

    def cont(self, *which: str) -> None:
        self.signal(signal.SIGCONT, *which)

    def term(self, *which: str) -> None:
        self.signal(signal.SIGTERM, *which)

    def wait_gone(self, *which: str, within: float = 20) -> None:
        names = self._names(which)
        wait_for(lambda: not any(map(self.lives, names)), within, f"{names} have ended; see {self.log}")

    def pids(self, role: str) -> list[int]:
        return [self.children[name].pid for name in self._names([role]) if self.lives(name)]

    def last_event(self) -> int:
        """The number of the newest event, where there is one conversation."""
        return int(self.rows("select last_event from assistants_thread")[0]["last_event"])

    def rss(self, role: str) -> int:
        """Bytes of memory that the processes of a role hold."""
        pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.pids(role))
        return sum(pages) * os.sysconf("SC_PAGE_SIZE")

    # --- failpoints --------------------------------------------------------------------------------------------------
    def arm(self, point: str, action: str = "kill9", nth: int = 1, role: str = "") -> None:
        """The nth pass of the point from now on does this, in one process of the role (by default that of the point)."""
        role = role or ("web" if point.startswith("send.") else "worker")
        path = self._armed(self.roles[role][0]) / point
        waiting = path.with_suffix(".new")
        waiting.write_text(f"{action}:{nth}")
        waiting.rename(path)

    def disarm(self) -> None:
        """No point acts any more, and all clocks are right."""
        for path in [*self.home.glob("armed-*/*"), *self.home.glob("clock-*")]:
            path.unlink(missing_ok=True)

    def shift_clock(self, seconds: float, *which: str) -> None:
        """From now on the machine's clock is wrong by so many seconds, as these processes see it."""
        for name in self._names(which):
            waiting = self.home / f"clock-{name}.new"
            waiting.write_text(str(seconds))
            waiting.rename(self.home / f"clock-{name}")

    def wait_reached(self, within: float = 20) -> str:
        """Waits until an armed point has killed a process or stopped it; gives the process's name."""

        def hit() -> str | None:
            states = {name: self._state(name) for name in self.children}
            return next((name for name, state in states.items() if state in ("gone", "T")), None)

        return str(wait_for(hit, within, f"the armed point is reached; see {self.log}"))

    def _state(self, name: str) -> str:
        if not self.lives(name):
            return "gone"
        return Path(f"/proc/{self.children[name].pid}/stat").read_text().rpartition(")")[2].split()[0]

    def carry_on(self) -> float:
        """After a death: starts the one server there is; elsewhere the others have to do. The moment from which P4 counts."""
        if self.profile == "embedded" or not any(map(self.lives, self.roles["web"])):
            return self.start()
        return time.monotonic()

    # --- between two tests -------------------------------------------------------------------------------------------
    def renew(self) -> None:
        """Makes a used cluster as good as a new one: all processes live, and no conversation is left."""
        self.disarm()
        self.cont()
        if self.redis:
            self.redis.start()
        if self.children:
            self.data.forget_conversations()
        self.ledger.unlink(missing_ok=True)
        self.client = Client(self, "alice")
        self.start()
        self.wait_ready()

    def remove(self) -> None:
        with suppress(AssertionError):
            self.cont()
            self.kill9()
        self.listener.close()
        if isinstance(self.data, PostgresData):
            self.data.remove()
        if self.redis:
            self.redis.remove()
        shutil.rmtree(self.home, ignore_errors=True)

    # --- the record --------------------------------------------------------------------------------------------------
    def rows(self, query: str, *values: Any) -> list[Row]:
        """Rows of the database; `?` stands for a value, whatever the database."""
        return self.data.rows(query, *values)

    def turns(self) -> list[Row]:
        return self.rows("select * from assistants_turn order by id")

    def quiet(self, count: int = 1) -> bool:
        """Whether there are turns, and every one of them has ended."""
        states = [turn["state"] for turn in self.turns()]
        return len(states) >= count and set(states) <= set(FINAL)

    def wait_quiet(self, within: float = 30, count: int = 1) -> float:
        """Waits until all turns have ended; gives the moment."""
        try:
            wait_for(lambda: self.quiet(count), within, "all turns end")
        except AssertionError as error:
            told = [(turn["id"], turn["state"], turn["reason"], turn["holder"]) for turn in self.turns()]
            raise AssertionError(f"{error}: {told}; see {self.log}") from None
        return time.monotonic()

    def texts(self, role: str, chat: str = "") -> list[str]:
        """What was said, in order; in one conversation or in all."""
        query = "select parts from assistants_message where role = ? {} order by thread_id, sequence"
        where = "and thread_id in (select id from assistants_thread where chat_id = ?)" if chat else ""
        rows = self.rows(query.format(where), role, *([chat] if chat else []))
        parts = [decoded(row["parts"]) for row in rows]
        return ["".join(part.get("text", "") for part in each if part["type"] == "text") for each in parts]

    def effects(self, tool: str) -> int:
        """How often the tool has changed the outside world."""
        return sum(line["tool"] == tool for line in self.written())

    def written(self) -> list[dict[str, str]]:
        """The lines of the ledger."""
        return [json.loads(line) for line in self.ledger.read_text().splitlines()] if self.ledger.exists() else []


def decoded(value: Any) -> Any:
    """A JSON column: PostgreSQL's driver reads it, SQLite's gives text."""
    return json.loads(value) if isinstance(value, str) else value


def new_key() -> str:
    return uuid.uuid4().hex
