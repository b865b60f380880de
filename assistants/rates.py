"""Counts what somebody does within a span of time."""

import hashlib
import math
from dataclasses import dataclass

from django.core.cache import cache

from assistants import clock


@dataclass(frozen=True)
class Count:
    """How often it was done since the span began, and in how many seconds the span is over."""

    times: int
    seconds_left: int


def count(*who: str, seconds: int) -> Count:
    """Counts one more; the span begins with the first. In this process, so a restart forgives."""
    key = _key(who)
    now = clock.now().timestamp()
    for _ in range(2):
        cache.add(key, 0, seconds)
        cache.add(f"{key}-ends", now + seconds, seconds)
        try:
            times = cache.incr(key)
        except ValueError:  # it ran out in between
            continue
        ends = cache.get(f"{key}-ends", now + seconds)
        return Count(times, max(1, math.ceil(ends - now)))
    return Count(1, seconds)


def forget(*who: str) -> None:
    """Begins anew."""
    key = _key(who)
    cache.delete_many([key, f"{key}-ends"])


def _key(who: tuple[str, ...]) -> str:
    # What people type may be long or hold what a cache's keys may not.
    return "rate-" + hashlib.sha256("\0".join(who).encode("utf-8", "replace")).hexdigest()
