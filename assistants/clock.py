"""The one clock: tests replace `now` and `monotonic` instead of sleeping."""

import time
from datetime import datetime

from django.utils import timezone


def now() -> datetime:
    """The present moment, with its time zone."""
    return timezone.now()


def monotonic() -> float:
    """Seconds since some fixed moment; never runs backwards."""
    return time.monotonic()
