"""Wakes whoever watches a topic in this process. Carries hints only: the watcher reads the truth itself (D1)."""

import asyncio
import threading
from collections import defaultdict


class Subscription:
    """One watcher's wake-up flag, set from any thread and awaited on the watcher's own loop."""

    def __init__(self, topics: tuple[str, ...]) -> None:
        self.topics = topics
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._lock = threading.Lock()
        self._fresh: set[str] = set()

    def wake(self, topic: str) -> None:
        """Marks the topic as changed; several marks before the watcher looks are one wake-up."""
        with self._lock:
            first = not self._fresh
            self._fresh.add(topic)
        if first:
            try:
                self._loop.call_soon_threadsafe(self._event.set)
            except RuntimeError:  # the watcher's loop is closed: nobody is there any more
                unsubscribe(self)

    async def changed(self) -> set[str]:
        """Waits until some topic was marked and returns all that were."""
        await self._event.wait()
        with self._lock:
            fresh, self._fresh = self._fresh, set()
            self._event.clear()
        return fresh


_lock = threading.Lock()
_watchers: dict[str, set[Subscription]] = defaultdict(set)


def subscribe(*topics: str) -> Subscription:
    """Starts to watch; call it before reading the state, so that nothing falls between (D6)."""
    subscription = Subscription(topics)
    with _lock:
        for topic in topics:
            _watchers[topic].add(subscription)
    return subscription


def unsubscribe(subscription: Subscription) -> None:
    """Ends a watch; a second call does nothing."""
    with _lock:
        for topic in subscription.topics:
            _watchers[topic].discard(subscription)
            if not _watchers[topic]:
                del _watchers[topic]


def poke(topic: str) -> None:
    """Wakes every watcher of `thread:<id>`, `text:<id>` or `user:<id>`."""
    with _lock:
        watchers = list(_watchers.get(topic, ()))
    for watcher in watchers:
        watcher.wake(topic)


def watched(topic: str) -> bool:
    """Whether anybody in this process watches the topic."""
    return topic in _watchers
