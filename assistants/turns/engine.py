"""Keeps a serving process's turns going: the heartbeat, the sweeper, and the take-over after a restart."""

import fcntl
import logging
import os
import re
import socket
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import IO

from django.conf import settings
from django.db import connection

from assistants import clock, durability, telemetry
from assistants.models import Runner
from assistants.units import let_go

from . import claims, executors
from .sweeper import sweep

log = logging.getLogger(__name__)
FORGOTTEN_MINUTES = 10
CHECKPOINT_SECONDS = 1.0
_started = threading.Lock()
_slot_lock: IO[str] | None = None
# When each of them last got round in this process, on the monotonic clock; and for how long it may not (seconds).
_rounds: dict[str, float] = {}
_patience: dict[str, float] = {}


def start_engine(slot: str = claims.EMBEDDED_SLOT) -> None:
    """Starts heartbeat and sweeper in this process; a second call does nothing.

    Whoever gets the slot's file lock knows that the process which held leases in this slot before is dead, and takes
    its turns over at once instead of waiting for the leases to run out (P4). The kernel frees the lock on kill -9.
    """
    if not _started.acquire(blocking=False):
        return
    slot = _of_this_machine(slot)
    if _lock_slot(slot):
        claims.use_slot(slot)
        if left := claims.expire_slot(slot, but=claims.holder_name()):
            log.info("taking over %s turns of a process that died", left)
    else:
        # Its leases must not look like those of whoever has the slot.
        claims.use_slot(f"{slot}-{os.getpid()}")
    executors.serve_here()
    repeat(settings.TASKMONKEY["HEARTBEAT_SECONDS"], beat, "heartbeat")
    repeat(settings.TASKMONKEY["SWEEP_SECONDS"], sweep, "sweeper")
    if connection.vendor == "sqlite":
        # Other databases do it by themselves.
        repeat(CHECKPOINT_SECONDS, durability.checkpoint, "checkpoint")


def stalled() -> list[str]:
    """Which of heartbeat and sweeper should have got round long ago; none where this process has no engine."""
    return sorted(name for name, last in _rounds.items() if clock.monotonic() - last > _patience[name])


def _of_this_machine(slot: str) -> str:
    """The slot's full name: where several machines share a database, a process of the same name elsewhere is another one."""
    if slot == claims.EMBEDDED_SLOT and connection.vendor == "sqlite":
        return slot
    return re.sub(r"[^\w.-]", "-", f"{slot}@{socket.gethostname()}")[:50]


def _lock_slot(slot: str) -> bool:
    global _slot_lock
    settings.HOME.mkdir(parents=True, exist_ok=True)
    name = "engine.lock" if slot == claims.EMBEDDED_SLOT else f"engine-{slot}.lock"
    _slot_lock = open(settings.HOME / name, "w")  # noqa: SIM115 - held until the process ends
    try:
        fcntl.flock(_slot_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        log.warning("another process has the slot %s in this data directory; its turns are left alone", slot)
        return False
    return True


def beat() -> None:
    """Prolongs the leases of the turns that this process runs, and says that it lives."""
    at_work = executors.running()
    claims.renew(claims.holder_name(), at_work)
    now = clock.now()
    facts = {"beat": now, "running": len(at_work), "places": settings.TASKMONKEY["TURN_THREADS"]}
    Runner.objects.update_or_create(holder=claims.holder_name(), defaults=facts)
    Runner.objects.filter(beat__lt=now - timedelta(minutes=FORGOTTEN_MINUTES)).delete()


def repeat(seconds: float, work: Callable[[], object], name: str) -> None:
    """Does the work now and whenever so many seconds have passed, in a thread of its own, whatever goes wrong."""
    _rounds[name], _patience[name] = clock.monotonic(), max(settings.TASKMONKEY["LEASE_SECONDS"], 6 * seconds)

    def run() -> None:
        pause = threading.Event()
        while True:
            try:
                with telemetry.timed("round", name=name) as told:
                    told["count"] = work()
                _rounds[name] = clock.monotonic()
            except Exception:
                log.exception("%s failed; it goes on", name)
            finally:
                let_go()
            pause.wait(seconds)

    threading.Thread(target=run, name=name, daemon=True).start()
