"""Where turns run: in a pool of threads here, or in whichever worker hears the bell. Only a doorbell: it may be lost (D4)."""

import logging
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.conf import settings

from assistants import clock
from assistants.units import let_go

log = logging.getLogger(__name__)

# Seconds that runners have to write down how they stand once their model calls were ended.
LAST_SECONDS = 3.0

_lock = threading.Lock()
_runner: Callable[[int], None] | None = None
_picker: Callable[[Collection[int]], int | None] | None = None
_doorbell: Callable[[int], None] | None = None
_elsewhere: Callable[[int, bool], None] | None = None
_pool: ThreadPoolExecutor | None = None
# Each with the mark of its run: a run that was given up must not end its successor's entry.
_running: dict[int, object] = {}
_again: set[int] = set()
_streams: dict[int, Future[Any]] = {}
# Turns may be waiting for a free place; and, once it is set, nothing is taken up any more.
_crowded = False
_serving = False
_closing = threading.Event()
# What was rung while the executor is `manual`: tests take the turns from here.
rung: list[int] = []
jobs: list[Callable[[], None]] = []


def use_runner(runner: Callable[[int], None], picker: Callable[[Collection[int]], int | None]) -> None:
    """Tells the executor what runs a turn, and who has the next turn when a place gets free, but those it is given.

    Called once, by the loop, when the app starts.
    """
    global _runner, _picker
    _runner, _picker = runner, picker


def use_doorbell(ring: Callable[[int], None]) -> None:
    """From now on turns are run by whoever hears this bell, with the executor `celery`."""
    global _doorbell
    _doorbell = ring


def use_relay(pass_on: Callable[[int, bool], None] | None) -> None:
    """From now on other processes learn which turn's model call is to end, and whether its runner is given up."""
    global _elsewhere
    _elsewhere = pass_on


def enqueue(turn_id: int) -> None:
    """Asks for the turn to be run soon, here or by another process."""
    executor = settings.TASKMONKEY["EXECUTOR"]
    if executor == "manual":
        rung.append(turn_id)
    elif executor == "celery" and _doorbell:
        _doorbell(turn_id)
    else:
        take_up(turn_id)


def take_up(turn_id: int) -> None:
    """Runs the turn in this process soon. One that is rung again while it runs is looked at once more.

    When all places are taken, or this process is about to end, the bell is not heard; the database is the queue.
    """
    global _crowded
    with _lock:
        if _closing.is_set():
            return
        if turn_id in _running:
            _again.add(turn_id)
            return
        if len(_running) >= settings.TASKMONKEY["TURN_THREADS"]:
            _crowded = True
            return
        _running[turn_id] = mark = object()
    _get_pool().submit(_run, turn_id, mark)


def serve_here() -> None:
    """Says that this process runs turns, whoever rings: what its own sweeper finds, it takes up itself."""
    global _serving
    _serving = True


def take_or_ring(turn_id: int) -> None:
    """For the sweeper: takes the turn up where turns are run, even if no bell gets through; elsewhere rings for it."""
    if _serving and settings.TASKMONKEY["EXECUTOR"] != "manual":
        take_up(turn_id)
    else:
        enqueue(turn_id)


def running() -> list[int]:
    """The turns that this process runs at the moment."""
    return list(_running)


def is_closing() -> bool:
    """Whether runners here should give their turns back between two steps (F11)."""
    return _closing.is_set()


def drain(patience: float, *, rest: Callable[[float], None]) -> None:
    """Takes nothing up any more, and returns when nothing runs here; model calls that last longer than `patience` seconds
    are ended, and their turns given back for another process to answer again (F11)."""
    _closing.set()
    end = clock.monotonic() + patience
    while _running and clock.monotonic() < end:
        rest(0.05)
    for stream in list(_streams.values()):
        stream.cancel()
    end = clock.monotonic() + LAST_SECONDS
    while _running and clock.monotonic() < end:
        rest(0.05)


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
    """Ends the turn's model call wherever it runs, closing the provider's connection (T1)."""
    cancel_here(turn_id)
    if _elsewhere:
        _elsewhere(turn_id, False)


def cancel_here(turn_id: int) -> None:
    """The same, if it runs in this process."""
    if stream := _streams.get(turn_id):
        stream.cancel()


def abandon(turn_id: int) -> None:
    """Ends the turn's model call, and lets it be run again although its runner may be busy with a tool for long.

    Only after the runner has lost its lease: it changes nothing any more.
    """
    abandon_here(turn_id)
    if _elsewhere:
        _elsewhere(turn_id, True)


def abandon_here(turn_id: int) -> None:
    """The same, if it runs in this process."""
    cancel_here(turn_id)
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
        job()
    except Exception:
        log.exception("a job in the background failed")
    finally:
        let_go()


def _run(turn_id: int, mark: object) -> None:
    try:
        run_here(turn_id)
    except Exception:
        log.exception("turn %s: the runner failed; the sweeper will try again", turn_id)
    finally:
        with _lock:
            mine = _running.get(turn_id) is mark
            again = mine and turn_id in _again
            if mine:
                del _running[turn_id]
                _again.discard(turn_id)
        if again:
            take_up(turn_id)
        _fill()
        let_go()


def _fill() -> None:
    """Gives the places that got free to whoever waits for one."""
    global _crowded
    if not _crowded or _picker is None:
        return
    try:
        while len(_running) < settings.TASKMONKEY["TURN_THREADS"]:
            turn_id = _picker(list(_running))
            if turn_id is None:
                _crowded = False
                return
            take_up(turn_id)
            if _closing.is_set():
                return
    except Exception:
        log.exception("the next turn could not be looked up; the sweeper will ring")
