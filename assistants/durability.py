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

    On SQLite only. A server that may commit later forgets such transactions when it crashes itself, which would lose what
    was reserved for a model call that is under way (P15, F13); and many commits wait for its disk together.
    """
    database: Any = connection
    if not connection.in_atomic_block:
        database.waits_for_disk = False
    try:
        with transaction.atomic():
            yield
    finally:
        database.waits_for_disk = True
