"""The stores of the clusters: SQLite files and PostgreSQL databases made from a template, and a Redis; each can be killed."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import redis
from psycopg.rows import dict_row

from assistants.management import private_servers

Row = Any
# Errors of a store that is gone for a moment.
AWAY = (sqlite3.OperationalError, psycopg.OperationalError, redis.RedisError)
# A machine that does much else takes longer for everything; what is promised in seconds is measured beside the waiting.
STRETCH = 4
LOST = {"fsync": "off", "full_page_writes": "off", "log_min_messages": "fatal", "max_connections": "150"}


def wait_for(condition: Callable[[], Any], within: float, what: str) -> Any:
    """Polls until the condition is true and returns its value; fails with `what` after `within` seconds, or some more."""
    deadline = time.monotonic() + STRETCH * within
    while time.monotonic() < deadline:
        with suppress(*AWAY):
            if value := condition():
                return value
        time.sleep(0.02)
    raise AssertionError(f"not within {STRETCH * within} s: {what}")


def open_folder() -> Path:
    """A new folder that other accounts can pass: PostgreSQL and Redis run under one of their own."""
    folder = Path(tempfile.mkdtemp(prefix="taskmonkey-faults-", dir="/tmp"))
    folder.chmod(0o755)
    return folder


def why_no_services() -> str:
    """Empty if PostgreSQL and Redis are on this machine; else what to do."""
    if private_servers.find_postgres() is None:
        return "no PostgreSQL on this machine; install it (apt-get install postgresql) to run these"
    if not shutil.which("redis-server"):
        return "no Redis on this machine; install it (apt-get install redis-server) to run these"
    return ""


class ServiceProcess:
    """A PostgreSQL or Redis of the tests' own, as `make team` would start it."""

    def __init__(self, service: private_servers.Service, folder: Path, *more: str) -> None:
        self.service, self.folder = service, folder
        self._command = [*service.command, *more]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self.service.url

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Starts it if it doesn't run, and waits until it answers."""
        if self._process is None or self._process.poll() is not None:
            with open(self.folder / f"{self.service.name}.log", "ab") as log:
                self._process = subprocess.Popen(
                    self._command, stdout=log, stderr=log, start_new_session=True, **self.service.account
                )
        wait_for(self.answers, 30, f"{self.service.name} answers; see {self.folder}")

    def answers(self) -> bool:
        raise NotImplementedError

    def stop(self) -> None:
        """It hangs from now on."""
        os.kill(self.pid, signal.SIGSTOP)

    def cont(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def end(self, number: int = signal.SIGKILL) -> None:
        if self._process and self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait(30)


class Redis(ServiceProcess):
    """A Redis that is started, emptied, filled up, stopped and killed at will."""

    def __init__(self) -> None:
        folder = open_folder()
        super().__init__(private_servers.redis(folder / "redis", 0), folder)

    def answers(self) -> bool:
        with closing(self.client()) as client:
            return bool(client.ping())

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=2)

    def remove(self) -> None:
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres(ServiceProcess):
    """A PostgreSQL with databases that are copies of a template: a new one takes a tenth of a second."""

    def __init__(self) -> None:
        folder = open_folder()
        options = [part for name, value in LOST.items() for part in ("-c", f"{name}={value}")]
        super().__init__(private_servers.postgres(folder / "postgres", 0), folder, *options)

    def answers(self) -> bool:
        with psycopg.connect(self.url, connect_timeout=2):
            return True

    def crash(self) -> None:
        """Ends it at once: all connections are lost, and it has to recover when it starts."""
        self.end(signal.SIGQUIT)

    def create(self, template: str = "template1") -> str:
        """A new database; gives its URL."""
        name = f"copy_{uuid.uuid4().hex[:12]}"
        self._do(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url.rpartition("/")[0] + f"/{name}"

    def drop(self, url: str) -> None:
        self._do(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)")

    def disconnect(self, url: str) -> int:
        """Ends the connections that the site has to a database; gives how many."""
        question = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"
        question += " AND application_name = 'taskmonkey'"
        with psycopg.connect(self.url) as connection:
            row = connection.execute(question, [url.rpartition("/")[2]]).fetchone()
        return int(row[0]) if row else 0

    def _do(self, command: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(command)  # type: ignore[arg-type]

    def remove(self) -> None:
        self.end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


class SqliteData:
    """The database of one embedded cluster."""

    def __init__(self, home: Path) -> None:
        self.path = home / "taskmonkey.sqlite3"
        self.environment: dict[str, str] = {}

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=20)
        connection.row_factory = sqlite3.Row
        try:
            yield connection
        finally:
            connection.close()

    def rows(self, query: str, *values: Any) -> list[Row]:
        with self.connection() as connection:
            return connection.execute(query, values).fetchall()

    def change(self, command: str, *values: Any) -> None:
        with self.connection() as connection:
            connection.execute(command, values)
            connection.commit()

    def forget_conversations(self) -> None:
        """Empties every table that depends on a conversation."""
        with self.connection() as connection:
            connection.execute("PRAGMA foreign_keys=OFF")
            connection.execute("BEGIN IMMEDIATE")
            for table in self._below(connection, "assistants_thread"):
                connection.execute(f"DELETE FROM {table}")
            connection.commit()

    def _below(self, connection: sqlite3.Connection, first: str) -> set[str]:
        tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        above = {table: {row[2] for row in connection.execute(f"PRAGMA foreign_key_list({table})")} for table in tables}
        found = {first}
        while more := {table for table in tables if above[table] & found} - found:
            found |= more
        return found


class PostgresData:
    """The database of one full cluster."""

    def __init__(self, server: Postgres, url: str) -> None:
        self.server, self.url = server, url
        self.environment = {"DATABASE_URL": url}
        self._kept: psycopg.Connection[Row] | None = None

    def rows(self, query: str, *values: Any) -> list[Row]:
        return self._ask(query, *values).fetchall()

    def change(self, command: str, *values: Any) -> None:
        self._ask(command, *values)

    def _ask(self, query: str, *values: Any) -> psycopg.Cursor[Row]:
        kept = self._kept
        if kept is not None and not kept.closed and not kept.broken:
            # It may have been lost with a server that was killed.
            with suppress(psycopg.OperationalError):
                return kept.execute(query.replace("?", "%s"), values)  # type: ignore[arg-type]
        self._kept = psycopg.connect(self.url, autocommit=True, row_factory=dict_row)
        return self._kept.execute(query.replace("?", "%s"), values)  # type: ignore[arg-type]

    def forget_conversations(self) -> None:
        """Empties every table that depends on a conversation."""
        self._ask("TRUNCATE assistants_thread CASCADE")

    def remove(self) -> None:
        if self._kept:
            self._kept.close()
        self.server.drop(self.url)
