"""Stores how far growing replies have come: one statement, put together once, for any number of them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from .message import Message

STATEMENT = "UPDATE assistants_message SET parts = %s WHERE id = %s AND state = %s"


def store_growing(replies: Sequence[tuple[UUID, list[dict[str, Any]]]]) -> None:
    """Replaces the parts of each of these messages; one that was finished meanwhile stays as it is."""
    prepare = Message._meta.pk.get_db_prep_value
    rows = [
        (connection.ops.adapt_json_value(parts, None), prepare(pk, connection), str(Message.State.STREAMING))
        for pk, parts in replies
    ]
    with connection.cursor() as cursor:
        cursor.executemany(STATEMENT, rows)
