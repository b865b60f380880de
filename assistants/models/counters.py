"""Takes the next number of a thread, for an event or a message: one statement, which holds its row until the commit."""

from typing import Any

from django.db import connection

from assistants import clock

from .thread import Thread

EVENT = "UPDATE assistants_thread SET last_event = last_event + 1 WHERE id = %s RETURNING last_event, root_id"
NEWS = (
    "UPDATE assistants_thread SET last_event = last_event + 1, last_news = last_event + 1 WHERE id = %s"
    " RETURNING last_event, root_id"
)
MESSAGE = "UPDATE assistants_thread SET last_message = last_message + 1, updated = %s WHERE id = %s RETURNING last_message"


def take_event_number(thread_id: int, *, news: bool) -> tuple[int, int]:
    """The number of the thread's next event, which may be something to read, and the thread at the top of its tree.

    Raises `Thread.DoesNotExist`.
    """
    number, root_id = _take(NEWS if news else EVENT, [thread_id])
    return number, root_id or thread_id


def take_message_number(thread_id: int) -> int:
    """The number of the thread's next message. Raises `Thread.DoesNotExist`."""
    now = connection.ops.adapt_datetimefield_value(clock.now())
    return int(_take(MESSAGE, [now, thread_id])[0])


def _take(statement: str, values: list[Any]) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows = cursor.fetchall()
    if not rows:
        raise Thread.DoesNotExist(f"thread {values[-1]} is gone")
    return tuple(rows[0])
