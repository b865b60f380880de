"""Places for short work on the interpreter: one lock lets one thread run at a time, so a crowd only slows everybody."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

# With SQLite all work is done by the thread that asks for it, but that of the disk; a database server works by itself.
PLACES = 1 if settings.DATABASES["default"]["ENGINE"].endswith("sqlite") else 2
# Seconds: when nobody has come in for so long, whoever is inside waits for something else, and the place is given away.
STUCK = 0.2
# Seconds: it is crowded when somebody has waited for so long, and until nobody had to for a while.
LATE, LULL = 0.05, 0.15


class Desk:
    """Lets so many threads work at a time, in the order in which they came; the first is done when it alone is done.

    Without that, a hundred who come at once take turns and are all done at the end, and the loop that carries the text of
    all streams stands in line behind each of them. It is a matter of order only: nobody is kept out by one who stays.
    """

    def __init__(self, places: int, stuck: float = STUCK) -> None:
        self._guard = threading.Lock()
        self._free, self._given_away = places, 0
        # Each with the time since when it waits.
        self._queue: deque[tuple[threading.Lock, float]] = deque()
        self._moved, self._late, self._stuck = 0.0, -LULL, stuck
        # When this thread came in, and nothing while it is not inside.
        self._mine = threading.local()

    @contextmanager
    def place(self, *, first: bool = False) -> Iterator[None]:
        """Waits for a place and keeps it; within another one of the same thread it does nothing. `first` goes before those
        who wait."""
        if self._since is not None:
            yield
            return
        self._enter(first=first)
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Lets the next one in while the thread waits for something else than the interpreter; before those who came
        meanwhile it has its place again. Without a place it does nothing."""
        if self._since is None:
            yield
            return
        self._leave()
        try:
            yield
        finally:
            self._enter(first=True)

    @property
    def is_crowded(self) -> bool:
        """Whether some wait long for a place: no time for what can be done a moment later."""
        now = time.monotonic()
        with self._guard:
            return now - self._late < LULL or bool(self._queue) and now - self._queue[0][1] > LATE

    @property
    def _since(self) -> float | None:
        return getattr(self._mine, "since", None)

    def _enter(self, *, first: bool) -> None:
        now = time.monotonic()
        with self._guard:
            if self._free:
                self._free -= 1
                self._moved = self._mine.since = now
                return
            mine = threading.Lock()
            mine.acquire()
            (self._queue.appendleft if first else self._queue.append)((mine, now))
        while not mine.acquire(timeout=self._stuck):
            with self._guard:
                if self._queue and time.monotonic() - self._moved >= self._stuck:
                    self._given_away += 1
                    self._let_in()
        self._mine.since = time.monotonic()

    def _leave(self) -> None:
        stayed = time.monotonic() - self._mine.since
        self._mine.since = None
        with self._guard:
            if self._given_away and stayed >= self._stuck:
                self._given_away -= 1
            elif self._queue:
                self._let_in()
            else:
                self._free += 1

    def _let_in(self) -> None:
        self._moved = time.monotonic()
        waiting, since = self._queue.popleft()
        if self._moved - since > LATE:
            self._late = self._moved
        waiting.release()


desk = Desk(PLACES)
