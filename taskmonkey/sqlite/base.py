"""SQLite whose writers queue up within a process, and whose connections are used again by the next thread."""

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError

from assistants.desk import desk

# Open files that wait for their next thread; more than so many are closed.
MAX_IDLE = 16
# The level of `PRAGMA synchronous` at which a commit into the log does not wait for the disk.
NORMAL = 1
# Not everywhere is there the lesser one, which leaves out the file's times.
to_disk = getattr(os, "fdatasync", os.fsync)
# As they are handed to the database; the longest, with many parameters, take a few kilobytes.
KNOWN_STATEMENTS = 1024
WRITING = frozenset({"INSERT", "UPDATE", "DELETE"})

# A file as the kernel knows it: one that took the place of another is not the same.
File = tuple[str, int, int]

_lock = threading.Lock()
_turnstiles: dict[str, "Turnstile"] = {}
# Each with whether it leaves the waiting for the disk to us.
_idle: dict[File, deque[tuple[Any, bool]]] = {}
_inherited: list[object] = []


class Turnstile:
    """Lets one thread in at a time, in the order in which they came.

    With a plain lock whoever comes while it changes hands is quicker than those who sleep in front of it, who may then wait
    for seconds.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._queue: deque[threading.Lock] = deque()

    def enter(self, patience: float) -> bool:
        """Waits for so many seconds at most; False if others took longer."""
        with self._guard:
            if not self._taken:
                self._taken = True
                return True
            mine = threading.Lock()
            mine.acquire()
            self._queue.append(mine)
        if mine.acquire(timeout=patience):
            return True
        with self._guard:
            if mine not in self._queue:
                # Its turn came at the very last moment.
                return True
            self._queue.remove(mine)
        return False

    def leave(self) -> None:
        """Lets the next one in."""
        with self._guard:
            if self._queue:
                self._queue.popleft().release()
            else:
                self._taken = False


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, with three things of ours.

    SQLite lets one writer in at a time. Whoever is turned away sleeps, for up to a tenth of a second, and tries again: of a
    hundred writers some are turned away for ever. So the threads of a process wait for each other in front of it.

    A commit is over once it is on the disk, which takes many times what the writing took. The next writer need not wait for
    that: it is let in as soon as the log is written, and several wait for the disk side by side. What was committed by one
    who has not heard from the disk yet may be seen by others, but whatever they commit stands behind it in the log.

    A request lets go of its connection at its end. To open a file costs more than all that most requests ask of it, so a
    connection that is let go is kept for the next thread.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Turned off for one transaction that need not (see `assistants.durability`).
        self.waits_for_disk = True
        self._inside = False
        self._opened: File | None = None
        self._syncs = False
        # The rows that the connection had changed when it was last committed.
        self._changes = 0

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        name = str(self.settings_dict["NAME"])
        with _lock:
            idle = _idle.get(found) if (found := _file(name)) else None
            kept = idle.pop() if idle else None
        connection, self._syncs = kept or _relaxed(super().get_new_connection(conn_params))
        self._opened = None if self.is_in_memory_db() else _file(name)
        self._changes = connection.total_changes
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
        self._wait_for_disk()

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
        self._wait_for_disk()

    def _rollback(self) -> None:
        try:
            super()._rollback()
        finally:
            self._leave()
        self._changes = self.connection.total_changes if self.connection else 0

    def _close(self) -> None:
        connection, file = self.connection, self._opened
        try:
            used = connection is None or connection.in_transaction
            if used or file is None or not _keep(connection, self._syncs, file):
                super()._close()
        finally:
            self._leave()

    def _wait_for_disk(self) -> None:
        """Returns once everything that was committed is on the disk, if anything was changed and has to be."""
        if self.connection is None:
            return
        changes, self._changes = self._changes, self.connection.total_changes
        if self._syncs and self.waits_for_disk and changes != self._changes:
            with desk.lent():
                _sync(str(self.settings_dict["NAME"]))

    def _enter(self) -> None:
        with _lock:
            turnstile = _turnstiles.setdefault(str(self.settings_dict["NAME"]), Turnstile())
        if not turnstile.enter(float(self.settings_dict["OPTIONS"].get("timeout", 5))):
            raise OperationalError("database is locked")
        self._inside = True

    def _leave(self) -> None:
        if self._inside:
            self._inside = False
            _turnstiles[str(self.settings_dict["NAME"])].leave()


class Cursor(base.SQLiteCursorWrapper):
    """A cursor that queues up before it writes outside of a transaction, and knows the statements that it was given before."""

    def __init__(self, connection: Any, wrapper: DatabaseWrapper) -> None:
        super().__init__(connection)
        self._wrapper = wrapper

    def execute(self, query: str, params: Any = None) -> Any:
        if query[:6] not in WRITING:
            return super().execute(query, params)
        with self._wrapper.writing():
            return super().execute(query, params)

    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        if param_names is None:
            return _with_question_marks(query)
        return super().convert_query(query, param_names=param_names)


@lru_cache(KNOWN_STATEMENTS)
def _with_question_marks(query: str) -> str:
    """As Django does it, which takes as long as a short statement."""
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


def _file(name: str) -> File | None:
    try:
        found = os.stat(name)
    except OSError:
        return None
    return name, found.st_dev, found.st_ino


def _relaxed(connection: Any) -> tuple[Any, bool]:
    """The connection, and whether its commits leave the waiting for the disk to us: where they are to wait, and write a log."""
    level = connection.execute("PRAGMA synchronous").fetchone()[0]
    if level <= NORMAL or connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        return connection, False
    connection.execute(f"PRAGMA synchronous = {NORMAL}")
    return connection, True


def _sync(name: str) -> None:
    """Waits until all of the log is on the disk. Raises `OperationalError`, as SQLite does when that fails."""
    try:
        # SQLite puts it beside the file that a link leads to.
        log = os.open(f"{os.path.realpath(name)}-wal", os.O_RDONLY)
        try:
            to_disk(log)
        finally:
            os.close(log)
    except OSError as error:
        raise OperationalError("disk I/O error") from error


def _keep(connection: Any, syncs: bool, file: File) -> bool:
    if len(_idle.get(file, ())) >= MAX_IDLE:
        return False
    # What it has read is in the system's memory as well.
    connection.execute("PRAGMA shrink_memory")
    with _lock:
        _idle.setdefault(file, deque()).append((connection, syncs))
    return True


def _forget_after_fork() -> None:
    """A forked process may not even close its parent's connections."""
    global _lock
    _inherited.extend(_idle.values())
    _idle.clear()
    _turnstiles.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
