"""Runners that take turns: each is a thread that goes on only when it is told to, from one boundary to the next."""

# Boundaries are where a process may be overtaken by another one or die: before each transaction, and at each failpoint
# outside of one. Only one of all threads runs at any moment, so they can share the test's connection, and a story that is told
# twice comes out the same twice.

import contextlib
import threading
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from django.db import connection, connections, transaction

from assistants import failpoints
from assistants.turns import loop

# A step of a runner takes milliseconds; a test that waits longer than this for one is stuck, and says so.
PATIENCE_SECONDS = 60

_here = threading.local()


class Gone(BaseException):
    """Ends the thread of a runner whose process is dead; nothing catches it."""


class Runner:
    """One run of one turn, in a process of that name. Nothing happens until `step`."""

    def __init__(self, turn_id: int, process: str) -> None:
        self.turn_id, self.process = turn_id, process
        self.at, self.over = "start", False
        self._dead = False
        self._error: BaseException | None = None
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._database = connections["default"]
        self._depth = len(connection.savepoint_ids)
        self._thread = threading.Thread(target=self._run, name=f"runner of {turn_id}", daemon=True)
        self._database.inc_thread_sharing()
        self._thread.start()

    def step(self) -> None:
        """Goes on to the next boundary, or to the end. Raises what the runner's own thread raised."""
        if self.over:
            return
        self._go.release()
        if not self._paused.acquire(timeout=PATIENCE_SECONDS):
            raise AssertionError(f"the runner of turn {self.turn_id} went on from {self.at!r} and did not come back")
        if self._error:
            raise self._error

    def finish(self) -> None:
        """Goes on to the end."""
        for _ in range(1000):
            if self.over:
                return
            self.step()
        raise AssertionError(f"the runner of turn {self.turn_id} does not end")

    def bury(self) -> None:
        """Ends the thread where it stands, without a further word to the database."""
        self._dead = True
        while not self.over:
            self.step()

    def pause(self, where: str) -> None:
        """Called by the runner's own thread at a boundary."""
        if len(connection.savepoint_ids) > self._depth:
            return
        if self._dead:
            raise Gone
        self.at = where
        self._paused.release()
        self._wait()

    def _wait(self) -> None:
        self._go.acquire()
        if self._dead:
            raise Gone

    def _run(self) -> None:
        connections["default"] = self._database
        _here.runner = self
        try:
            self._wait()
            loop.run_turn(self.turn_id)
        except Gone:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self.over = True
            self._database.dec_thread_sharing()
            self._paused.release()


class _Boundaries(dict[str, Any]):
    """In the place of the armed failpoints: none of them acts, but a runner pauses there."""

    def __contains__(self, name: object) -> bool:
        _pause(str(name))
        return False


def _pause(where: str) -> None:
    runner = getattr(_here, "runner", None)
    if runner is not None:
        runner.pause(where)


def _holder() -> str:
    runner = getattr(_here, "runner", None)
    return runner.process if runner is not None else "test:1"


@contextlib.contextmanager
def taking_turns() -> Iterator[None]:
    """Within it runners pause at their boundaries, and hold leases in the name of their process."""
    enter = transaction.Atomic.__enter__

    def entering(self: transaction.Atomic) -> None:
        _pause("transaction")
        enter(self)

    with (
        patch.object(transaction.Atomic, "__enter__", entering),
        patch.object(failpoints, "ARMED", _Boundaries()),
        patch.object(loop, "holder_name", _holder),
    ):
        yield
