"""What PostgreSQL needs beyond SQLite: texts without what it refuses, and its clock as the one that all processes go by."""

import re
import time
from datetime import UTC, datetime
from typing import Any

from django.db import connection as default_connection
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.models.signals import pre_migrate

from assistants import clock

MEASURE_SECONDS = 10.0
# From left to right: an escaped backslash and a whole character stay; NUL goes, and half a character becomes a mark.
_ESCAPES = re.compile(rb"(\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|(\\u0000)|\\u[dD][89a-fA-F]..")
_measured = float("-inf")


def prepare() -> None:
    """Called once, when the app starts, before anything is asked of the database. Does nothing with another database."""
    if default_connection.vendor != "postgresql":
        return
    _clean_texts()
    connection_created.connect(_follow_clock, dispatch_uid="follow_clock")
    pre_migrate.connect(_take_time, dispatch_uid="take_time")


def clean_json(data: bytes) -> bytes:
    """JSON as PostgreSQL takes it in: without NUL, and with U+FFFD where half a character stood (F21)."""
    if b"\\u0000" not in data and b"\\ud" not in data:
        return data
    return _ESCAPES.sub(lambda found: found[1] or (b"" if found[2] else b"\\ufffd"), data)


def _clean_texts() -> None:
    """Cleans every text on its way into the database, where it is written and where it is looked for."""
    # Only where it is needed: on SQLite the library need not be loaded.
    from psycopg import adapters
    from psycopg.types.json import Jsonb, JsonbDumper
    from psycopg.types.string import StrDumper

    class CleanText(StrDumper):
        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\0", "") if "\0" in obj else obj)

        def quote(self, obj: str) -> Any:
            return super().quote(obj.replace("\0", "") if "\0" in obj else obj)

    class CleanJson(JsonbDumper):
        def dump(self, obj: Any) -> Any:
            data = super().dump(obj)
            return clean_json(bytes(data)) if data is not None else None

    adapters.register_dumper(str, CleanText)
    adapters.register_dumper(Jsonb, CleanJson)


def _take_time(using: str = "default", **_: Any) -> None:
    """To alter or to index a large table takes longer than any statement of a page may."""
    with connections[using].cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")


def _follow_clock(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Asks the server for its time with a new connection, now and then: leases and pauses are compared by many processes,
    whose own clocks may differ or be put forward (P12, F30)."""
    global _measured
    before = time.monotonic()
    if before - _measured < MEASURE_SECONDS or connection.vendor != "postgresql":
        return
    _measured = before
    with connection.connection.cursor() as cursor:
        there: datetime = cursor.execute("SELECT clock_timestamp()").fetchone()[0]
    after = time.monotonic()
    clock.follow(there.astimezone(UTC), at=(before + after) / 2)
