"""The socket of one conversation's page: events by number, growing text, live cards. Everything goes down, nothing up."""

import asyncio
import json
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID
from weakref import WeakSet

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.http import Http404
from django.utils import translation

from assistants import access, clock, forms, telemetry
from assistants.desk import desk
from assistants.errors import NotAllowed
from assistants.models import Message, Thread, User
from assistants.rendering import fragments
from assistants.rendering.live_text import LiveText
from assistants.turns import events, hub, live

log = logging.getLogger(__name__)

# Of our own range: Daphne's library lets no application send 1011 or 1012.
BROKEN, RESTARTING, SIGNED_OUT, INVISIBLE, TOO_MANY = 4011, 4012, 4401, 4404, 4429
# A right that was taken away is noticed within 5 seconds, the time of the check itself included (P11).
ACCESS_SECONDS = 4
FAREWELL_SECONDS = 1.0
# Seconds from a change to the look at it, and from one look to the next. The steps of a turn follow each other closely:
# what is drawn a moment later is drawn once for several of them. The panel sums up, so it may lag behind by a second.
DELAY = {"thread": 0.05, "user": 0.5, "panel": 0.25}
PACE = {"thread": 0.08, "tree": 0.5, "user": 0.5, "panel": 1.0}
ACCESS = "access"
# While sends and turns wait for each other, drawings wait up to so many seconds, looking that often whether it is over.
RUSH_SECONDS, RUSH_LOOK = 4.0, 0.1
# Events whose drawing holds whole messages.
REDRAWING = ("message", "log")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
# Of this process; weakly, so that a socket that ended without a word does not count for ever.
_open: "WeakSet[ThreadConsumer]" = WeakSet()


class SignedOut(Exception):
    """The session that the socket was opened with is over."""


class Agenda:
    """The topics that changed, and when each is due."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._seen: dict[str, float] = {}

    def add(self, topic: str, *, later: float = 0.0) -> None:
        """Notes a change, to be looked at so many seconds later at least; a second one before that adds nothing."""
        kind = topic.partition(":")[0]
        at = max(clock.monotonic() + DELAY.get(kind, 0.0) + later, self._seen.get(topic, 0.0) + PACE.get(kind, 0.0))
        self._due.setdefault(topic, at)

    def take(self) -> list[str]:
        """What is due now, in the order of the changes."""
        now, late = clock.monotonic(), RUSH_SECONDS if desk.is_crowded else 0.0
        ready = [topic for topic, at in self._due.items() if at + (topic != ACCESS) * late <= now]
        for topic in ready:
            del self._due[topic]
            self._seen[topic] = now
        return ready

    def seconds(self) -> float:
        """How long until something is due."""
        return max(min(self._due.values()) - clock.monotonic(), RUSH_LOOK if desk.is_crowded else 0.0)


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
        if sum(each.actor == self.actor for each in _open) >= settings.TASKMONKEY["SOCKETS_PER_USER"]:
            await self.close(TOO_MANY)
            return
        _open.add(self)
        telemetry.tell("sockets", open=len(_open))
        self.text = LiveText(self.thread.pk)
        self.cards: dict[str, str] = {}
        self.panel = self.sidebar = ""
        self.agenda = Agenda()
        self._begin(self._follow_record())

    async def disconnect(self, code: int) -> None:
        for task in self.tasks:
            task.cancel()
        _open.discard(self)
        telemetry.tell("sockets", open=len(_open))

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
        watch = hub.subscribe(*topics)
        try:
            if await self._find_place():
                self._begin(self._follow_text())
                await self._follow(watch)
        finally:
            hub.unsubscribe(watch)

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
        looks = {
            "thread": self._send_events,
            "tree": self._send_cards,
            "panel": self._send_panel,
            "user": self._send_sidebar,
            ACCESS: self._check_access,
        }
        # Everything at first, the list of conversations too: a page that comes back may have missed any of it.
        ready = list(watch.topics)
        while True:
            for topic in ready:
                await looks[topic.partition(":")[0]]()
            self.agenda.add(ACCESS, later=ACCESS_SECONDS)
            for topic in await watch.changed_within(self.agenda.seconds()):
                self.agenda.add(topic)
            ready = self.agenda.take()

    async def _send_events(self) -> None:
        # In stretches: whoever was away for long gets all of it now, not at the next change.
        while True:
            news, redrawn, ended = await _news(self.actor, self.thread.chat_id, self.cursor)
            for frame in news:
                await self._say(frame)
                self.cursor = frame["n"]
            if news:
                self.agenda.add("panel:")
                if not isinstance(self.actor, User):
                    # Nobody tells what a visitor's list looks like: it changes with what happens here.
                    self.agenda.add("user:")
            if redrawn:
                # What was drawn may hold a part of the growing reply, older than what was sent of it meanwhile.
                self.text.start_over(ended=ended)
                hub.wake(f"text:{self.thread.pk}")
            if len(news) < events.STRETCH:
                return

    async def _send_cards(self) -> None:
        """Cards of sub-chats that are at work; only what looks different from what was sent last."""
        # How things stand comes with them: it must not say that an answer is there before the answer is.
        await self._send_events()
        drawn = await _open_cards(self.actor, self.thread)
        for key, html in drawn.items():
            if self.cards.get(key) != html:
                await self._say({"html": html})
        self.cards = drawn
        self.agenda.add("panel:")

    async def _send_panel(self) -> None:
        html = await _panel(self.actor, self.thread.chat_id)
        if html != self.panel:
            await self._say({"html": html})
        self.panel = html

    async def _send_sidebar(self) -> None:
        html = await _sidebar(self.actor, self.thread)
        if html != self.sidebar:
            await self._say({"html": html})
        self.sidebar = html

    async def _check_access(self) -> None:
        await _still_allowed(self.actor, self.scope["session"], self.thread.chat_id)
        await self._tell_pace()

    async def _tell_pace(self) -> None:
        """Says whether changes in other processes are only looked up every few seconds (P10): each time, since a page that
        hears nothing for longer than two looks takes its connection for lost."""
        await self._say({"slow": not hub.is_healthy()})

    async def _say(self, frame: dict[str, Any]) -> None:
        await self.send(_encode(frame))


async def send_home() -> None:
    """Closes every socket of this process, which is about to end: the pages come back to its successor (F11)."""
    leaving = list(_open)
    for each in leaving:
        with suppress(Exception):
            await each.close(RESTARTING)
    # What was said is written by the loop, which is about to stop and may have much else to do.
    if leaving:
        await asyncio.sleep(FAREWELL_SECONDS)


def _cursor(after: str | None, thread_id: int) -> int | None:
    return forms.cursor(after, Thread.objects.get(pk=thread_id))


def _check_access(actor: access.Actor, session: SessionBase, chat_id: str) -> None:
    is_here, is_readable = access.look(actor, session, chat_id)
    if not is_here:
        raise SignedOut
    if not is_readable:
        raise Http404("No such conversation.")


def _draw_news(actor: access.Actor, chat_id: str, cursor: int) -> tuple[list[dict[str, Any]], bool, UUID | None]:
    """The events after the cursor as frames, whether they redraw messages, and the live reply if the record says that it has
    ended; access is asked again for each batch (D7).

    The panel is left out: many events in a row change it, and it is drawn at a pace of its own.
    """
    thread = access.get_thread(actor, chat_id)
    view = fragments.viewpoint(thread, actor)
    found = events.events_after(thread.pk, cursor)
    redrawn = any(event.kind in REDRAWING for event in found)
    return fragments.draw_news(found, view, but=("panel",)), redrawn, _ended_reply(thread) if redrawn else None


def _ended_reply(thread: Thread) -> UUID | None:
    """A reply that somebody stopped may be fed by its model for a moment longer, which nobody is to see."""
    reply = live.current(thread.pk)
    if reply is None or Message.objects.filter(pk=reply.message_id, state=Message.State.STREAMING).exists():
        return None
    return reply.message_id


def _draw_panel(actor: access.Actor, chat_id: str) -> str:
    return fragments.draw_panel(fragments.viewpoint(access.get_thread(actor, chat_id), actor))


# Made once: to wrap a function costs more than to hand it over to the thread.
_get_thread = database_sync_to_async(access.get_thread)
_find_cursor = database_sync_to_async(_cursor)
_news = database_sync_to_async(_draw_news)
_open_cards = database_sync_to_async(fragments.draw_open_cards)
_panel = database_sync_to_async(_draw_panel)
_sidebar = database_sync_to_async(fragments.draw_sidebar)
_still_allowed = database_sync_to_async(_check_access)
