"""A few places for short work on the interpreter: one lock lets one thread run at a time, so a crowd only slows everybody."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

# One at work, while another one waits for the disk.
PLACES = 2
# Seconds: when nobody has come in for so long, whoever is inside waits for something else, and the place is given away.
STUCK = 0.2


class Desk:
    """Lets so many threads work at a time, in the order in which they came; the first is done when it alone is done.

    Without that, a hundred who come at once take turns and are all done at the end, and the loop that carries the text of
    all streams stands in line behind each of them. It is a matter of order only: nobody is kept out by one who stays.
    """

    def __init__(self, places: int, stuck: float = STUCK) -> None:
        self._guard = threading.Lock()
        self._free, self._given_away = places, 0
        self._queue: deque[threading.Lock] = deque()
        self._moved, self._stuck = 0.0, stuck
        self._mine = threading.local()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Waits for a place and keeps it; within another one of the same thread it does nothing."""
        if getattr(self._mine, "taken", False):
            yield
            return
        self._enter()
        self._mine.taken, since = True, time.monotonic()
        try:
            yield
        finally:
            self._mine.taken = False
            self._leave(since)

    @property
    def is_crowded(self) -> bool:
        """Whether somebody waits for a place: no time for what can be done a moment later."""
        return bool(self._queue)

    def _enter(self) -> None:
        with self._guard:
            if self._free:
                self._free -= 1
                self._moved = time.monotonic()
                return
            mine = threading.Lock()
            mine.acquire()
            self._queue.append(mine)
        while not mine.acquire(timeout=self._stuck):
            with self._guard:
                if self._queue and time.monotonic() - self._moved >= self._stuck:
                    self._given_away += 1
                    self._let_in()

    def _leave(self, since: float) -> None:
        with self._guard:
            if self._given_away and time.monotonic() - since >= self._stuck:
                self._given_away -= 1
            elif self._queue:
                self._let_in()
            else:
                self._free += 1

    def _let_in(self) -> None:
        self._moved = time.monotonic()
        self._queue.popleft().release()


desk = Desk(PLACES)
