"""Reads DATABASE_URL: SQLite for one machine, PostgreSQL for several; each with the limits that it needs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

FIX = "Write postgres://user:password@host:5432/name?sslmode=require, or sqlite:////folder/file.sqlite3, or leave it unset."
# What may follow the question mark. What bounds time and connections has variables of its own.
QUERY = frozenset("host sslmode sslrootcert sslcert sslkey channel_binding target_session_attrs application_name".split())


def read_database_url(url: str, *, home: Path, base: Path) -> dict[str, Any]:
    """The database that the address names, as an entry of Django's DATABASES; without one, a file in `home`.

    A relative file is looked for in `base`. Raises `ImproperlyConfigured`, which says what to write instead and never
    repeats the address, for it holds a password.
    """
    if not url.strip():
        return _sqlite(home / "taskmonkey.sqlite3")
    try:
        parts = urlsplit(url.strip())
        # Read here, where a port that is no number can be told of.
        _ = parts.port
    except ValueError:
        # Not a word of it: a password with a slash in it would be taken for the port.
        raise ImproperlyConfigured(f"DATABASE_URL can't be read. Write signs like / and @ as %2F and %40. {FIX}") from None
    if parts.scheme in ("postgres", "postgresql"):
        return _postgres(parts)
    if parts.scheme == "sqlite":
        return _sqlite(_file(parts, base))
    raise ImproperlyConfigured(f"DATABASE_URL names the unknown kind of database “{parts.scheme}”. {FIX}")


def _file(parts: SplitResult, base: Path) -> Path:
    path = unquote(parts.path)[1:]
    if parts.netloc or parts.query or path in ("", ":memory:"):
        raise ImproperlyConfigured(f"DATABASE_URL must name a file after sqlite:///. {FIX}")
    return base / path


def _sqlite(path: Path) -> dict[str, Any]:
    # FULL is needed to promise that nothing accepted is lost when the power fails; NORMAL keeps it for crashes only.
    synchronous = os.environ.get("TASKMONKEY_SQLITE_SYNCHRONOUS", "FULL")
    return {
        "ENGINE": "taskmonkey.sqlite",
        "NAME": path,
        # To open a file anew costs as much as four queries, and every look of every page would do so.
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            # A deferred transaction that reads and then writes fails at once when another writer is in between.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous}; PRAGMA foreign_keys=ON; PRAGMA cache_size=-8000;"
                # A server moves the log into the file by itself; a commit only does so where that did not keep up (32 MB).
                " PRAGMA wal_autocheckpoint=8000"
            ),
        },
    }


def _postgres(parts: SplitResult) -> dict[str, Any]:
    name, query = unquote(parts.path.lstrip("/")), dict(parse_qsl(parts.query))
    if not name or "/" in name:
        raise ImproperlyConfigured(f"DATABASE_URL names no database after the host. {FIX}")
    if unknown := sorted(query.keys() - QUERY):
        raise ImproperlyConfigured(f"DATABASE_URL has {', '.join(unknown)}; it may have {', '.join(sorted(QUERY))}.")
    return {
        "ENGINE": "taskmonkey.postgres",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        # A folder with a socket can't stand before the first slash.
        "HOST": query.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        # A connection goes back to the pool as soon as a thread lets go of it; the pool keeps it open.
        "CONN_MAX_AGE": 0,
        # A connection that the server has ended is noticed by our own look at it (see `taskmonkey.postgres`).
        "CONN_HEALTH_CHECKS": False,
        "OPTIONS": {"application_name": "taskmonkey", **query, **_patience(), "pool": _pool()},
    }


def _patience() -> dict[str, Any]:
    """How long the database may take to answer: nothing waits for ever, neither here nor there."""
    statement = _whole_number("TASKMONKEY_STATEMENT_SECONDS", 30)
    bounds = {
        "statement_timeout": statement * 1000,
        "lock_timeout": _whole_number("TASKMONKEY_LOCK_SECONDS", 20) * 1000,
        # A process that hangs within a transaction must not keep its rows from all others.
        "idle_in_transaction_session_timeout": 60_000,
        # Compiling a plan takes longer than any query of a page.
        "jit": "off",
    }
    return {
        "connect_timeout": 10,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        # In milliseconds: a server that is gone without a word is given up.
        "tcp_user_timeout": (statement + 10) * 1000 if statement else 0,
        "options": " ".join(f"-c {name}={value}" for name, value in bounds.items()),
    }


def _pool() -> dict[str, Any]:
    """The connections of one process. Whoever finds all in use waits a while and is then told so."""
    size = _whole_number("TASKMONKEY_DATABASE_POOL", 20)
    if size < 2:
        raise ImproperlyConfigured("TASKMONKEY_DATABASE_POOL must be at least 2: one for turns and one for pages.")
    # The pool tries to connect after pauses that double, and all wait for that one trial. Given up soon, the next who asks
    # tries at once: else a database that was gone for a minute would be back for a minute before anybody noticed.
    return {"min_size": 1, "max_size": size, "timeout": 10, "reconnect_timeout": 3, "max_idle": 300, "max_lifetime": 1800}


def _whole_number(name: str, default: int) -> int:
    value = os.environ.get(name, "").strip() or str(default)
    if not value.isdecimal():
        raise ImproperlyConfigured(f"{name} must be a whole number from 0 up, not “{value}”.")
    return int(value)
