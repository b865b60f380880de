"""The one clock: tests replace `now` and `monotonic` instead of sleeping."""

import time
from datetime import datetime, timedelta

from django.utils import timezone

# A moment by a clock that many processes go by, and what `monotonic` said at that moment.
_anchor: tuple[datetime, float] | None = None


def now() -> datetime:
    """The present moment, with its time zone: by the clock that is followed, else by this machine's."""
    if _anchor is None:
        return timezone.now()
    moment, at = _anchor
    return moment + timedelta(seconds=time.monotonic() - at)


def monotonic() -> float:
    """Seconds since some fixed moment; never runs backwards."""
    return time.monotonic()


def follow(moment: datetime, *, at: float) -> None:
    """From now on `now` goes by a clock that said `moment` when `monotonic` said `at`, whatever this machine's clock does."""
    global _anchor
    _anchor = (moment, at)
