"""A CPU budget for one rendering."""

from time import perf_counter, thread_time


class RenderTimeout(Exception):
    """A text used up its rendering budget; the caller shows it as plain text (D9, S37)."""


class Deadline:
    """CPU seconds that one rendering may use.

    Neither a loaded machine shortens it (the thread's own CPU time must be used up) nor a collection of garbage that happens to
    run meanwhile (a single step counts for 20 ms at most).
    """

    STRIDE = 64
    LONGEST_STEP_SECONDS = 0.02

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._cpu_start = thread_time()
        self._last_look = perf_counter()
        self._used = 0.0
        self._ticks = 0

    def tick(self) -> None:
        """Counts one cheap step; raises RenderTimeout when the budget is gone."""
        self._ticks += 1
        if self._ticks % self.STRIDE == 0:
            self.check()

    def check(self) -> None:
        """Raises RenderTimeout when the budget is gone; for steps that cost more than a few microseconds."""
        now = perf_counter()
        self._used += min(now - self._last_look, self.LONGEST_STEP_SECONDS)
        self._last_look = now
        if self._used > self._seconds and thread_time() - self._cpu_start > self._seconds:
            raise RenderTimeout
