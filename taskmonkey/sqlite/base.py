"""SQLite whose writers queue up within a process, and whose connections are used again by the next thread."""

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError

# Open files that wait for their next thread; more than so many are closed.
MAX_IDLE = 16
WRITING = frozenset({"INSERT", "UPDATE", "DELETE"})

# A file as the kernel knows it: one that took the place of another is not the same.
File = tuple[str, int, int]

_lock = threading.Lock()
_turnstiles: dict[str, threading.Lock] = {}
_idle: dict[File, deque[Any]] = {}
_inherited: list[object] = []


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, with two things of ours.

    SQLite lets one writer in at a time. Whoever is turned away sleeps, for up to a tenth of a second, and tries again: of a
    hundred writers some are turned away for ever. So the threads of a process wait for each other in front of it.

    A request has a thread of its own, and so a connection of its own. To open a file costs more than all that most requests
    ask of it, so a connection that is let go is kept for the next thread.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._inside = False
        self._opened: File | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        name = str(self.settings_dict["NAME"])
        with _lock:
            idle = _idle.get(found) if (found := _file(name)) else None
            kept = idle.pop() if idle else None
        connection = kept or super().get_new_connection(conn_params)
        self._opened = None if self.is_in_memory_db() else _file(name)
        return connection

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=lambda connection: Cursor(connection, self))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Waits until no other thread of this process writes; does nothing inside a transaction, which has waited."""
        if self._inside or self.in_atomic_block or self.is_in_memory_db():
            yield
            return
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _start_transaction_under_autocommit(self) -> None:
        if self.transaction_mode and not self.is_in_memory_db():
            self._enter()
        try:
            super()._start_transaction_under_autocommit()
        except BaseException:
            self._leave()
            raise

    def _commit(self) -> None:
        super()._commit()
        self._leave()

    def _rollback(self) -> None:
        try:
            super()._rollback()
        finally:
            self._leave()

    def _close(self) -> None:
        connection, file = self.connection, self._opened
        try:
            if connection is None or file is None or connection.in_transaction or not _keep(connection, file):
                super()._close()
        finally:
            self._leave()

    def _enter(self) -> None:
        with _lock:
            turnstile = _turnstiles.setdefault(str(self.settings_dict["NAME"]), threading.Lock())
        if not turnstile.acquire(timeout=float(self.settings_dict["OPTIONS"].get("timeout", 5))):
            raise OperationalError("database is locked")
        self._inside = True

    def _leave(self) -> None:
        if self._inside:
            self._inside = False
            _turnstiles[str(self.settings_dict["NAME"])].release()


class Cursor(base.SQLiteCursorWrapper):
    """A cursor that queues up before it writes outside of a transaction."""

    def __init__(self, connection: Any, wrapper: DatabaseWrapper) -> None:
        super().__init__(connection)
        self._wrapper = wrapper

    def execute(self, query: str, params: Any = None) -> Any:
        if query[:6] not in WRITING:
            return super().execute(query, params)
        with self._wrapper.writing():
            return super().execute(query, params)


def _file(name: str) -> File | None:
    try:
        found = os.stat(name)
    except OSError:
        return None
    return name, found.st_dev, found.st_ino


def _keep(connection: Any, file: File) -> bool:
    with _lock:
        idle = _idle.setdefault(file, deque())
        if len(idle) >= MAX_IDLE:
            return False
        idle.append(connection)
    return True


def _forget_after_fork() -> None:
    """A forked process may not even close its parent's connections."""
    global _lock
    _inherited.extend(_idle.values())
    _idle.clear()
    _turnstiles.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
