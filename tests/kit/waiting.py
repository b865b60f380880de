"""Waits for what another process or thread is about to do."""

import time
from collections.abc import Callable

WAIT = 60.0


def until(condition: Callable[[], object], *, seconds: float = WAIT) -> object:
    """Waits for something true and returns it; fails the test when it does not come."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found
