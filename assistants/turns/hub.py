"""Wakes whoever watches a topic in this process. Carries hints only: the watcher reads the truth itself (D1)."""

import asyncio
import threading
from typing import Protocol


class Relay(Protocol):
    """Carries hints to other processes and brings theirs here (see `relay`)."""

    def tell(self, topic: str, but: str) -> None:
        """A topic changed here; called from any thread, never waits."""

    def watch(self, topic: str) -> None:
        """The first watcher of a topic is here."""

    def unwatch(self, topic: str) -> None:
        """The last watcher of a topic is gone."""

    @property
    def healthy(self) -> bool:
        """Whether hints go both ways at the moment."""


class Subscription:
    """One watcher's wake-up flag, set from any thread and awaited on the watcher's own loop."""

    def __init__(self, topics: tuple[str, ...]) -> None:
        self.topics = topics
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._event = asyncio.Event()
        self._lock = threading.Lock()
        self._fresh: set[str] = set()

    def wake(self, topic: str) -> None:
        """Marks the topic as changed; several marks before the watcher looks are one wake-up."""
        with self._lock:
            first = not self._fresh
            self._fresh.add(topic)
        if not first:
            return
        if threading.get_ident() == self._thread:
            # Text that streams on the watcher's own loop need not go the long way, over a pipe to itself.
            self._event.set()
            return
        try:
            self._loop.call_soon_threadsafe(self._event.set)
        except RuntimeError:  # the watcher's loop is closed: nobody is there any more
            unsubscribe(self)

    async def changed(self) -> set[str]:
        """Waits until some topic was marked and returns all that were."""
        await self._event.wait()
        return self._take()

    async def changed_within(self, seconds: float | None) -> set[str]:
        """The same, but after so many seconds, if any, with nothing marked it returns an empty set."""
        if seconds is None:
            return await self.changed()
        timer = self._loop.call_later(seconds, self._event.set)
        try:
            return await self.changed()
        finally:
            timer.cancel()

    def _take(self) -> set[str]:
        with self._lock:
            fresh, self._fresh = self._fresh, set()
            self._event.clear()
        return fresh


_lock = threading.Lock()
_watchers: dict[str, set[Subscription]] = {}
_relay: Relay | None = None


def use_relay(relay: Relay | None) -> None:
    """From now on hints go to other processes too; without a relay they stay in this one."""
    global _relay
    _relay = relay


def is_healthy() -> bool:
    """Whether hints from other processes arrive here at the moment; without a relay there are none to arrive."""
    return _relay is None or _relay.healthy


def subscribe(*topics: str) -> Subscription:
    """Starts to watch; call it before reading the state, so that nothing falls between (D6)."""
    subscription = Subscription(topics)
    with _lock:
        fresh = [topic for topic in topics if topic not in _watchers]
        for topic in topics:
            _watchers.setdefault(topic, set()).add(subscription)
    if _relay:
        for topic in fresh:
            _relay.watch(topic)
    return subscription


def unsubscribe(subscription: Subscription) -> None:
    """Ends a watch; a second call does nothing."""
    gone = []
    with _lock:
        for topic in subscription.topics:
            watchers = _watchers.get(topic, set())
            watchers.discard(subscription)
            if not watchers and _watchers.pop(topic, None) is not None:
                gone.append(topic)
    if _relay:
        for topic in gone:
            _relay.unwatch(topic)


def watched() -> list[str]:
    """The topics that somebody in this process watches."""
    with _lock:
        return list(_watchers)


def poke(topic: str, *, but: str = "") -> None:
    """Wakes every watcher of `thread:<id>`, `tree:<id>` or `user:<id>` in all processes, but those who watch `but` as well."""
    wake(topic, but=but)
    if _relay:
        _relay.tell(topic, but)


def wake(topic: str, *, but: str = "") -> None:
    """Wakes the watchers in this process only; growing text (`text:<id>`) has a way of its own to the others."""
    if topic not in _watchers:
        return
    with _lock:
        watchers = _watchers.get(topic, set()) - _watchers.get(but, set())
    for watcher in watchers:
        watcher.wake(topic)
