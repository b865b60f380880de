"""Counts what somebody does within a span of time."""

import hashlib
import math
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection

from assistants import clock
from assistants.models import Tally

# One statement, so that two processes never count the same one twice.
COUNT = """INSERT INTO assistants_tally (key, times, ends) VALUES (%s, 1, %s)
    ON CONFLICT (key) DO UPDATE SET
        times = CASE WHEN assistants_tally.ends <= %s THEN 1 ELSE assistants_tally.times + 1 END,
        ends = CASE WHEN assistants_tally.ends <= %s THEN excluded.ends ELSE assistants_tally.ends END
    RETURNING times, ends"""


@dataclass(frozen=True)
class Count:
    """How often it was done since the span began, and in how many seconds the span is over."""

    times: int
    seconds_left: int


def count(*who: str, seconds: int) -> Count:
    """Counts one more, over all processes; the span begins with the first."""
    now = clock.now()
    adapt = connection.ops.adapt_datetimefield_value
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [_key(who), adapt(now + timedelta(seconds=seconds)), adapt(now), adapt(now)])
        times, ends = cursor.fetchone()
    field = Tally._meta.get_field("ends")
    for convert in connection.ops.get_db_converters(field.cached_col):
        ends = convert(ends, field.cached_col, connection)
    return Count(times, max(1, math.ceil((ends - now).total_seconds())))


def forget(*who: str) -> None:
    """Begins anew."""
    Tally.objects.filter(key=_key(who)).delete()


def forget_past() -> None:
    """Removes the counts whose span is over."""
    Tally.objects.filter(ends__lt=clock.now()).delete()


def _key(who: tuple[str, ...]) -> str:
    # What people type may be long, and no name is to stand in the table.
    return hashlib.sha256("\0".join(who).encode("utf-8", "replace")).hexdigest()
