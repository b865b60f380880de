"""What need not wait for the disk: transactions that need not outlive a power failure, and the moving of SQLite's log."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def unsynced() -> Iterator[None]:
    """One transaction that is visible and kept like any other, but on disk only with the next one that is synced.

    For what the record makes good by itself after a power failure: who works on a turn and whether it waits, that a reply has
    begun, how far its text has come. Never for what was accepted or answered, or for the attempt of a tool that acts elsewhere
    (P1, D5). Within a larger transaction it is a part of that.

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


def checkpoint() -> None:
    """Moves what SQLite's log holds into its file, as far as that holds up nobody.

    Otherwise a commit would do it every now and then, and all who want to write would wait for its disk.
    """
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
