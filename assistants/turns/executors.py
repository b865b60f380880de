"""Where turns run: a pool of threads in this process, or nowhere until a test says so. Only a doorbell: it may be lost."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.db import close_old_connections

log = logging.getLogger(__name__)

_lock = threading.Lock()
_runner: Callable[[int], None] | None = None
_pool: ThreadPoolExecutor | None = None
# Each with the mark of its run: a run that was given up must not end its successor's entry.
_running: dict[int, object] = {}
_again: set[int] = set()
_streams: dict[int, Future[Any]] = {}
# What was rung while the executor is `manual`: tests take the turns from here.
rung: list[int] = []
jobs: list[Callable[[], None]] = []


def use_runner(runner: Callable[[int], None]) -> None:
    """Tells the executor what runs a turn; called once, by the loop, when the app starts."""
    global _runner
    _runner = runner


def enqueue(turn_id: int) -> None:
    """Asks for the turn to be run soon. A turn that is rung again while it runs is looked at once more."""
    if settings.TASKMONKEY["EXECUTOR"] == "manual":
        rung.append(turn_id)
        return
    with _lock:
        if turn_id in _running:
            _again.add(turn_id)
            return
        _running[turn_id] = mark = object()
    _get_pool().submit(_run, turn_id, mark)


def run_here(turn_id: int) -> None:
    """Runs the turn in the caller's own thread: for commands and tests."""
    if _runner:
        _runner(turn_id)


def enqueue_later(turn_id: int, seconds: float) -> None:
    """Rings once, after so many seconds; the sweeper does it if this process is gone by then."""
    if settings.TASKMONKEY["EXECUTOR"] == "manual":
        return
    timer = threading.Timer(seconds, enqueue, [turn_id])
    timer.daemon = True
    timer.start()


def in_background(work: Callable[..., None], *arguments: object) -> None:
    """Does something small beside the turns, once; it may be lost with the process. What it raises is logged."""

    def job() -> None:
        work(*arguments)

    if settings.TASKMONKEY["EXECUTOR"] == "manual":
        jobs.append(job)
    else:
        _get_pool().submit(_do, job)


def carry(turn_id: int, stream: "Future[Any]") -> None:
    """Remembers the turn's running model call, so that `cancel` can end it."""
    _streams[turn_id] = stream


def drop(turn_id: int, stream: "Future[Any]") -> None:
    """Forgets the turn's model call, unless a newer run of the turn has put its own there."""
    if _streams.get(turn_id) is stream:
        del _streams[turn_id]


def cancel(turn_id: int) -> None:
    """Ends the turn's model call in this process at once, closing the provider's connection (T1)."""
    if stream := _streams.get(turn_id):
        stream.cancel()


def abandon(turn_id: int) -> None:
    """Ends the turn's model call, and lets it be run again although its runner may be busy with a tool for long.

    Only after the runner has lost its lease: it changes nothing any more.
    """
    cancel(turn_id)
    with _lock:
        _running.pop(turn_id, None)
        _again.discard(turn_id)


def _get_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(settings.TASKMONKEY["TURN_THREADS"], thread_name_prefix="turn")
        return _pool


def _do(job: Callable[[], None]) -> None:
    try:
        close_old_connections()
        job()
    except Exception:
        log.exception("a job in the background failed")
    finally:
        close_old_connections()


def _run(turn_id: int, mark: object) -> None:
    try:
        close_old_connections()
        run_here(turn_id)
    except Exception:
        log.exception("turn %s: the runner failed; the sweeper will try again", turn_id)
    finally:
        close_old_connections()
        with _lock:
            mine = _running.get(turn_id) is mark
            again = mine and turn_id in _again
            if mine:
                del _running[turn_id]
                _again.discard(turn_id)
    if again:
        enqueue(turn_id)
