"""The open pages of this process: how many each person has, and whether they may still look, asked for many at a time."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextvars import Context
from itertools import islice, takewhile
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

from channels.db import database_sync_to_async

from assistants import access, clock, looks, telemetry

log = logging.getLogger(__name__)

# A right that was taken away is noticed within 5 seconds (P11), the time of the look itself included: up to a second when a
# hundred people write at once, as pages are drawn by the same thread.
ACCESS_SECONDS = 3.0
# Whoever is due within this part of that time is asked about together, so many at most: other pages wait for the answer.
TOGETHER, MOST = 0.05, 128


class Page(Protocol):
    """The socket of an open page, as far as looks are concerned."""

    actor: access.Actor

    @property
    def view(self) -> looks.View:
        """Who looks, in which session, at which conversation."""

    async def close(self, code: int) -> None:
        """Ends it; its page goes by the code."""

    def learn(self, sight: looks.Sight | None) -> None:
        """What a look found; None when it could not be made."""


class OpenPages:
    """Counts pages and looks at each of them every few seconds. One that ended without a word does not stay for ever."""

    def __init__(self) -> None:
        # With the time of the next look. All wait equally long, so whoever was looked at last stands last.
        self._due: WeakKeyDictionary[Page, float] = WeakKeyDictionary()
        self._by_actor: dict[access.Actor, WeakSet[Page]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._looks: set[asyncio.Task[None]] = set()
        # How many are gone since the process began.
        self.gone = 0

    def __iter__(self) -> Iterator[Page]:
        return iter(list(self._due))

    def of(self, actor: access.Actor) -> int:
        """How many pages the person has open."""
        return len(self._by_actor.get(actor, ()))

    def add(self, page: Page) -> None:
        """From now on the page is counted, and looked at for the first time in a few seconds."""
        self._due[page] = clock.monotonic() + ACCESS_SECONDS
        self._by_actor.setdefault(page.actor, WeakSet()).add(page)
        telemetry.tell("sockets", open=len(self._due))
        loop = asyncio.get_running_loop()
        if self._looking is None or self._looking.done() or self._looking.get_loop() is not loop:
            # Not in the page's own context, which is in a person's language.
            self._looking = loop.create_task(self._look_round(), context=Context())

    def discard(self, page: Page) -> None:
        """The page is gone; a second call does nothing."""
        self.gone += self._due.pop(page, None) is not None
        others = self._by_actor.get(page.actor, WeakSet())
        others.discard(page)
        if not others:
            self._by_actor.pop(page.actor, None)
        telemetry.tell("sockets", open=len(self._due))

    async def _look_round(self) -> None:
        while (first := next(iter(self._due.values()), None)) is not None:
            await asyncio.sleep(first + ACCESS_SECONDS * TOGETHER - clock.monotonic())
            if pages := self._take():
                # Not waited for: those who are due next don't stand behind a slow answer.
                look = asyncio.create_task(_look(pages))
                self._looks.add(look)
                look.add_done_callback(self._looks.discard)

    def _take(self) -> list[Page]:
        """Who is due now; each goes to the end."""
        now = clock.monotonic()
        due = list(islice(takewhile(lambda page: self._due[page] <= now, self._due), MOST))
        for page in due:
            del self._due[page]
            self._due[page] = now + ACCESS_SECONDS
        return due


async def _look(pages: list[Page]) -> None:
    sights: Sequence[looks.Sight | None] = [None] * len(pages)
    try:
        sights = await _look_all([page.view for page in pages])
    except Exception:
        log.exception("whether %d open pages may still be seen could not be asked", len(pages))
    for page, sight in zip(pages, sights, strict=True):
        page.learn(sight)


# Made once: to wrap a function costs more than to hand it over to the thread.
_look_all = database_sync_to_async(looks.look_all)
open_pages = OpenPages()
