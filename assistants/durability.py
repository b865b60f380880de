"""Transactions that need not outlive a power failure, and so need not wait for the disk; the death of a process they do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def unsynced() -> Iterator[None]:
    """One transaction that is visible and kept like any other, but on disk only with the next one that is synced.

    For what the record makes good by itself after a power failure: who works on a turn, that a reply has begun, how far its
    text has come. Never for what was accepted or answered, or for the attempt of a tool (P1, D5). Within a larger
    transaction it is a part of that.
    """
    if connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    database: Any = connection
    database.waits_for_disk = False
    try:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL synchronous_commit TO OFF")
            yield
    finally:
        database.waits_for_disk = True
