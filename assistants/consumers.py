"""The socket of one conversation's page: events by number, growing text, live cards. Everything goes down, nothing up."""

import asyncio
import json
import logging
from collections.abc import Collection, Coroutine
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http import Http404
from django.utils import translation

from assistants import access, forms, looks
from assistants.agenda import ACCESS, Agenda
from assistants.desk import desk
from assistants.errors import NotAllowed
from assistants.models import Thread, User
from assistants.open_pages import open_pages
from assistants.rendering import fragments
from assistants.rendering.live_text import LiveText
from assistants.rendering.updates import CARDS, NEWS, PANEL, PARTS, SIDEBAR, Update, draw_update
from assistants.turns import events, hub

log = logging.getLogger(__name__)

# Of our own range: Daphne's library lets no application send 1011 or 1012.
BROKEN, RESTARTING, SIGNED_OUT, INVISIBLE, TOO_MANY = 4011, 4012, 4401, 4404, 4429
FAREWELL_SECONDS = 1.0
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class SignedOut(Exception):
    """The session that the socket was opened with is over."""


class Unsure(Exception):
    """Whether the page may still be seen could not be asked."""


class ThreadConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Streams a thread to one page. `after` in the address is the number of the last event the page already shows, `lang`
    the language that it is in.

    Growing text has a task of its own, which never waits for the database or a template.
    """

    async def connect(self) -> None:
        self.actor = access.actor_of(self.scope["user"], self.scope["session"])
        self.tasks: list[asyncio.Task[None]] = []
        await self.accept()
        if isinstance(self.actor, access.Visitor) and not self.actor.key:
            await self.close(SIGNED_OUT)
            return
        chat_id = self.scope["url_route"]["kwargs"]["chat_id"]
        try:
            self.thread = await _get_thread(self.actor, chat_id)
        except (Http404, NotAllowed):
            await self.close(INVISIBLE)
            return
        if open_pages.of(self.actor) >= settings.TASKMONKEY["SOCKETS_PER_USER"]:
            await self.close(TOO_MANY)
            return
        self.text = LiveText(self.thread.pk)
        # What was sent last of each part, by its elements.
        self.shown: dict[str, dict[str, str]] = {}
        self.agenda = Agenda()
        self.watch: hub.Subscription | None = None
        self.sight: looks.Sight | None = None
        open_pages.add(self)
        self._begin(self._follow_record())

    async def disconnect(self, code: int) -> None:
        for task in self.tasks:
            task.cancel()
        open_pages.discard(self)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A page only ever says that it is still there; commands go by HTTP."""

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.create_task(self._guard(work)))

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except SignedOut:
            await self.close(SIGNED_OUT)
        except (Http404, NotAllowed):
            await self.close(INVISIBLE)
        except Unsure:
            await self.close(BROKEN)
        except Exception:
            # The page connects again and goes on from its cursor; an open socket that says nothing would stay for ever.
            log.exception("the socket of thread %s broke off", self.thread.pk)
            await self.close(BROKEN)

    async def _follow_text(self) -> None:
        watch = hub.subscribe(f"text:{self.thread.pk}")
        try:
            while True:
                for frame in self.text.frames():
                    await self._say(frame)
                if pause := self.text.pause:
                    await asyncio.sleep(pause)
                await watch.changed()
        finally:
            hub.unsubscribe(watch)

    async def _follow_record(self) -> None:
        topics = [f"thread:{self.thread.pk}", f"tree:{self.thread.root_id_or_own}"]
        if isinstance(self.actor, User):
            topics.append(f"user:{self.actor.pk}")
        # Subscribed before the first read: what happens between is seen by one of the two (D6).
        self.watch = hub.subscribe(*topics)
        try:
            if await self._find_place():
                self._begin(self._follow_text())
                await self._follow(self.watch)
        finally:
            hub.unsubscribe(self.watch)

    async def _find_place(self) -> bool:
        """Reads where the page stands; one that can't belong to this record has to load again."""
        asked = parse_qs(self.scope["query_string"].decode("latin-1"))
        # Holds for this task and the threads it calls, and for no other socket.
        language = asked.get("lang", [""])[0]
        translation.activate(language if translation.check_for_language(language) else settings.LANGUAGE_CODE)
        self.cursor = await _find_cursor(asked.get("after", [None])[0], self.thread.pk)
        if self.cursor is None:
            await self._say({"reset": True})
        return self.cursor is not None

    async def _follow(self, watch: hub.Subscription) -> None:
        # Everything at first, the list of conversations too: a page that comes back may have missed any of it.
        await self._show(set(PARTS))
        while True:
            for topic in await watch.changed_within(self.agenda.seconds()):
                self.agenda.add(topic)
            due = {topic.partition(":")[0] for topic in self.agenda.take()}
            if ACCESS in due:
                await self._obey_look()
            await self._show(due - {ACCESS})

    async def _show(self, parts: set[str]) -> None:
        """Draws the parts of the page that are due, and sends of them what looks different from what was sent last."""
        while parts:
            update = await _update(self.actor, self.thread, self.cursor, parts)
            for frame in update.news:
                await self._say(frame)
                self.cursor = frame["n"]
            if update.redraws:
                # What was drawn may hold a part of the growing reply, older than what was sent of it meanwhile.
                self.text.start_over(ended=update.ended)
                hub.wake(f"text:{self.thread.pk}")
            for part, pieces in update.pieces.items():
                shown, self.shown[part] = self.shown.get(part, {}), pieces
                for element, html in pieces.items():
                    if shown.get(element, "") != html:
                        await self._say({"html": html})
            self._plan_what_follows(parts, has_news=bool(update.news))
            # In stretches: whoever was away for long gets all of it now, not at the next change.
            if update.is_whole:
                return

    def _plan_what_follows(self, parts: set[str], *, has_news: bool) -> None:
        """The panel sums up what was told. Nobody tells what a visitor's list looks like: it changes with what happens here."""
        if PANEL not in parts and (has_news or CARDS in parts):
            self.agenda.add(PANEL)
        if SIDEBAR not in parts and has_news and isinstance(self.actor, access.Visitor):
            self.agenda.add(SIDEBAR)

    @property
    def view(self) -> looks.View:
        """For the looks at rights, which are made for many pages at once."""
        return self.actor, self.scope["session"], self.thread.chat_id

    def learn(self, sight: looks.Sight | None) -> None:
        """Takes note of what a look found; the page's own task goes by it."""
        self.sight = sight
        if self.watch:
            self.watch.wake(ACCESS)

    async def _obey_look(self) -> None:
        """Raises what ends the page, else says whether changes in other processes are only looked up every few seconds (P10):
        each time, since a page that hears nothing for longer than two looks takes its connection for lost."""
        if self.sight is None:
            raise Unsure
        if not self.sight.is_here:
            raise SignedOut
        if not self.sight.is_readable:
            raise Http404("No such conversation.")
        await self._say({"slow": not hub.is_healthy()})

    async def _say(self, frame: dict[str, Any]) -> None:
        await self.send(_encode(frame))


async def send_home() -> None:
    """Closes every socket of this process, which is about to end: the pages come back to its successor (F11)."""
    leaving = list(open_pages)
    for each in leaving:
        with suppress(Exception):
            await each.close(RESTARTING)
    # What was said is written by the loop, which is about to stop and may have much else to do.
    if leaving:
        await asyncio.sleep(FAREWELL_SECONDS)


def _cursor(after: str | None, thread_id: int) -> int | None:
    return forms.cursor(after, Thread.objects.get(pk=thread_id))


def _draw(actor: access.Actor, thread: Thread, cursor: int, parts: Collection[str]) -> Update:
    """What is new after the cursor, and how the other parts look; access is asked again for each (D7). Cards say how things
    stand, which must not be ahead of the events."""
    with desk.place():
        found = events.events_after(thread.pk, cursor) if NEWS in parts or CARDS in parts else []
        if not found and set(parts) == {NEWS}:
            return Update()
        view = fragments.view_of(actor, thread.chat_id)
    return draw_update(view, found, parts)


# Made once: to wrap a function costs more than to hand it over to the thread.
_get_thread = database_sync_to_async(access.get_thread)
_find_cursor = database_sync_to_async(_cursor)
_update = database_sync_to_async(_draw)
