"""Whether this process can serve: named checks that every app adds to, and what failed of them by name alone."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from assistants import clock
from assistants.turns import engine, hub

log = logging.getLogger(__name__)
# Anybody may ask, so the checks themselves run at most once in so many seconds.
KEPT_SECONDS = 1.0


class NotReady(Exception):
    """What a check raises for a part that does not work at present; its words go to the log, so they hold no content."""


@dataclass(frozen=True)
class Part:
    """One thing that is looked at. Without a `required` part the site still serves, only less of it."""

    check: Callable[[], None]
    required: bool


@dataclass(frozen=True)
class Readiness:
    """The names of the parts that fail, sorted: those without which nothing works, and the others."""

    failing: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


_parts: dict[str, Part] = {}
_lock = threading.Lock()
_kept: tuple[float, Readiness] | None = None
_migrated = False


def register(name: str, check: Callable[[], None], *, required: bool = False) -> None:
    """Adds a part to what `/readyz` looks at; an app calls this when it starts.

    `check` returns for a part that works and raises anything for one that does not; it should take less than a second and
    ask nobody outside of this site. The name is public. A `required` part that fails turns `/readyz` into a 503.
    """
    _parts[name] = Part(check, required)


def readiness() -> Readiness:
    """Looks at every part, at most once a second. Never raises; what failed why is a line in the log."""
    global _kept
    with _lock:
        if _kept is None or clock.monotonic() - _kept[0] >= KEPT_SECONDS:
            before = _kept[1] if _kept else Readiness()
            _kept = clock.monotonic(), _look(before)
        return _kept[1]


def states() -> dict[str, str]:
    """Each part by its name: `ok`, `degraded`, or `failing` where nothing works without it."""
    found = readiness()
    told = dict.fromkeys(found.degraded, "degraded") | dict.fromkeys(found.failing, "failing")
    return {name: told.get(name, "ok") for name in sorted(_parts)}


def _look(before: Readiness) -> Readiness:
    failed = {name: error for name, part in sorted(_parts.items()) if (error := _error_of(part))}
    for name, error in failed.items():
        if name not in (*before.failing, *before.degraded):
            log.warning("not ready: %s (%s)", name, str(error) if isinstance(error, NotReady) else type(error).__name__)
    required = {name for name in failed if _parts[name].required}
    return Readiness(tuple(sorted(required)), tuple(sorted(failed.keys() - required)))


def _error_of(part: Part) -> Exception | None:
    try:
        part.check()
    except Exception as error:
        return error
    return None


def check_database() -> None:
    """Raises if the database does not answer."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT 1")


def check_migrations() -> None:
    """Raises if this code has migrations that the database has not. Looked at until they are in: they stay in."""
    global _migrated
    if _migrated:
        return
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise NotReady("run `manage.py migrate`")
    _migrated = True


def check_engine() -> None:
    """Raises if this process carries turns and its heartbeat or its sweeper has not got round for too long."""
    if late := engine.stalled():
        raise NotReady(f"{' and '.join(late)} stalled")


def check_redis() -> None:
    """Raises while no hints go over Redis from and to this process; one that uses no Redis has none to send."""
    if not hub.is_healthy():
        raise NotReady("no hints from and to other processes")


register("database", check_database, required=True)
register("migrations", check_migrations, required=True)
register("engine", check_engine, required=True)
# Without it pages are slow and lose nothing (P10): no reason to send nobody here any more.
register("redis", check_redis)
