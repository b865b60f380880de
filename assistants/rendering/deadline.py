"""A CPU budget for one rendering."""

from time import thread_time


class RenderTimeout(Exception):
    """A text used up its rendering budget; the caller shows it as plain text (D9, S37)."""


class Deadline:
    """CPU seconds of the calling thread that one rendering may use; a loaded machine does not shorten it."""

    # Reading a thread's CPU clock is a system call, so cheap steps look at it only now and then.
    STRIDE = 64

    def __init__(self, seconds: float) -> None:
        self._ends = thread_time() + seconds
        self._ticks = 0

    def tick(self) -> None:
        """Counts one cheap step; raises RenderTimeout when the budget is gone."""
        self._ticks += 1
        if self._ticks % self.STRIDE == 0:
            self.check()

    def check(self) -> None:
        """Raises RenderTimeout when the budget is gone; for steps that cost more than a few microseconds."""
        if thread_time() > self._ends:
            raise RenderTimeout
