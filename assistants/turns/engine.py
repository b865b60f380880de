"""Keeps a serving process's turns going: the heartbeat, the sweeper, and the take-over after a restart."""

import fcntl
import logging
import threading
from collections.abc import Callable
from typing import IO

from django.conf import settings
from django.db import close_old_connections

from assistants import clock

from . import claims
from .sweeper import sweep

log = logging.getLogger(__name__)
_started = threading.Lock()
_slot_lock: IO[str] | None = None
# When each of them last got round in this process, on the monotonic clock; and for how long it may not (seconds).
_rounds: dict[str, float] = {}
_patience: dict[str, float] = {}


def start_engine() -> None:
    """Starts heartbeat and sweeper in this process; a second call does nothing.

    Whoever gets the slot's file lock knows that the process which held leases in this slot before is dead, and takes
    its turns over at once instead of waiting for the leases to run out (P4). The kernel frees the lock on kill -9.
    """
    if not _started.acquire(blocking=False):
        return
    if _lock_slot():
        holder = claims.holder_name(claims.EMBEDDED_SLOT)
        if left := claims.expire_slot(claims.EMBEDDED_SLOT, but=holder):
            log.info("taking over %s turns of a server that died", left)
    _repeat(settings.TASKMONKEY["HEARTBEAT_SECONDS"], _beat, "heartbeat")
    _repeat(settings.TASKMONKEY["SWEEP_SECONDS"], sweep, "sweeper")


def stalled() -> list[str]:
    """Which of heartbeat and sweeper should have got round long ago; none where this process has no engine."""
    return sorted(name for name, last in _rounds.items() if clock.monotonic() - last > _patience[name])


def _lock_slot() -> bool:
    global _slot_lock
    settings.HOME.mkdir(parents=True, exist_ok=True)
    _slot_lock = open(settings.HOME / "engine.lock", "w")  # noqa: SIM115 - held until the process ends
    try:
        fcntl.flock(_slot_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        log.warning("another server runs on this data directory; its turns are left alone")
        return False
    return True


def _beat() -> None:
    claims.renew(claims.holder_name(claims.EMBEDDED_SLOT))


def _repeat(seconds: float, work: Callable[[], object], name: str) -> None:
    _rounds[name], _patience[name] = clock.monotonic(), max(settings.TASKMONKEY["LEASE_SECONDS"], 6 * seconds)

    def run() -> None:
        pause = threading.Event()
        while True:
            try:
                work()
                _rounds[name] = clock.monotonic()
            except Exception:
                log.exception("%s failed; it goes on", name)
            finally:
                close_old_connections()
            pause.wait(seconds)

    threading.Thread(target=run, name=name, daemon=True).start()
