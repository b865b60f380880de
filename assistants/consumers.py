"""The socket of one conversation's page: events by number, growing text, live cards. Everything goes down, nothing up."""

import asyncio
import json
import logging
import time
from typing import Any
from urllib.parse import parse_qs
from weakref import WeakSet

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.http import Http404
from django.utils import translation

from assistants import access, forms
from assistants.errors import NotAllowed
from assistants.models import Thread
from assistants.rendering import fragments
from assistants.rendering.live_text import LiveText
from assistants.turns import events, hub

log = logging.getLogger(__name__)

BROKEN, SIGNED_OUT, INVISIBLE, TOO_SLOW, TOO_MANY = 1011, 4401, 4404, 4408, 4429
CARD_SECONDS = 0.5
# A right that was taken away is noticed within 5 seconds, the time of the check itself included (P11).
ACCESS_SECONDS = 4
# Of this process; weakly, so that a socket that ended without a word does not count for ever.
_open: "WeakSet[ThreadConsumer]" = WeakSet()


class SignedOut(Exception):
    """The session that the socket was opened with is over."""


class ThreadConsumer(AsyncWebsocketConsumer):
    """Streams a thread to one page. `after` in the address is the number of the last event the page already shows, `lang`
    the language that it is in."""

    async def connect(self) -> None:
        self.actor = access.actor_of(self.scope["user"], self.scope["session"])
        self.stream: asyncio.Task[None] | None = None
        await self.accept()
        if isinstance(self.actor, access.Visitor) and not self.actor.key:
            await self.close(SIGNED_OUT)
            return
        chat_id = self.scope["url_route"]["kwargs"]["chat_id"]
        try:
            self.thread = await database_sync_to_async(access.get_thread)(self.actor, chat_id)
        except (Http404, NotAllowed):
            await self.close(INVISIBLE)
            return
        if sum(each.actor == self.actor for each in _open) >= settings.TASKMONKEY["SOCKETS_PER_USER"]:
            await self.close(TOO_MANY)
            return
        _open.add(self)
        self.stream = asyncio.create_task(self._stream())

    async def disconnect(self, code: int) -> None:
        if self.stream:
            self.stream.cancel()
        _open.discard(self)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A page only ever says that it is still there; commands go by HTTP."""

    async def _stream(self) -> None:
        thread_id, root_id = self.thread.pk, self.thread.root_id_or_own
        topics = [f"thread:{thread_id}", f"text:{thread_id}", f"tree:{root_id}"]
        if isinstance(self.actor, access.User):
            topics.append(f"user:{self.actor.pk}")
        # Subscribed before the first read: what happens between is seen by one of the two (D6).
        watch = hub.subscribe(*topics)
        try:
            await self._run(watch)
        except asyncio.CancelledError:
            raise
        except SignedOut:
            await self.close(SIGNED_OUT)
        except (Http404, NotAllowed):
            await self.close(INVISIBLE)
        except Exception:
            # The page connects again and goes on from its cursor; an open socket that says nothing would stay for ever.
            log.exception("the socket of thread %s broke off", thread_id)
            await self.close(BROKEN)
        finally:
            hub.unsubscribe(watch)

    async def _run(self, watch: hub.Subscription) -> None:
        thread_id, root_id = self.thread.pk, self.thread.root_id_or_own
        asked = parse_qs(self.scope["query_string"].decode("latin-1"))
        # Holds for this task and the threads it calls, and for no other socket.
        language = asked.get("lang", [""])[0]
        translation.activate(language if translation.check_for_language(language) else settings.LANGUAGE_CODE)
        after = asked.get("after", [None])[0]
        self.cursor = await database_sync_to_async(_cursor)(after, thread_id)
        if self.cursor is None:
            await self._say({"reset": True})
            return
        text = LiveText(thread_id)
        self.cards: dict[str, str] = {}
        # Everything at first, the list of conversations too: a page that comes back may have missed any of it.
        fresh = set(watch.topics)
        next_cards, next_check = 0.0, time.monotonic() + ACCESS_SECONDS
        while True:
            # However much goes on: text that streams is no reason to go on reading it.
            if time.monotonic() >= next_check:
                await database_sync_to_async(_check_access)(self.actor, self.scope["session"], self.thread.chat_id)
                next_check = time.monotonic() + ACCESS_SECONDS
            if f"thread:{thread_id}" in fresh:
                await self._send_events()
            for frame in text.frames():
                await self._say(frame)
            if f"tree:{root_id}" in fresh and time.monotonic() >= next_cards:
                await self._send_cards()
                next_cards = time.monotonic() + CARD_SECONDS
                fresh.discard(f"tree:{root_id}")
            if any(topic.startswith("user:") for topic in fresh):
                html = await database_sync_to_async(fragments.draw_sidebar)(self.actor, self.thread)
                await self._say({"html": html})
            late = {f"tree:{root_id}"} & fresh
            fresh = await _next(watch, min(next_cards, next_check) if late else next_check) | late

    async def _send_events(self) -> None:
        # In stretches: whoever was away for long gets all of it now, not at the next change.
        while frames := await database_sync_to_async(_draw_news)(self.actor, self.thread.chat_id, self.cursor):
            for frame in frames:
                await self._say(frame)
                self.cursor = frame["n"]

    async def _send_cards(self) -> None:
        """Cards of sub-chats that are at work; only what looks different from what was sent last."""
        drawn = await database_sync_to_async(fragments.draw_open_cards)(self.actor, self.thread)
        for key, html in drawn.items():
            if self.cards.get(key) != html:
                await self._say({"html": html})
        self.cards = drawn

    async def _say(self, frame: dict[str, Any]) -> None:
        await self.send(json.dumps(frame, ensure_ascii=False, separators=(",", ":")))


async def _next(watch: hub.Subscription, until: float) -> set[str]:
    """The topics that changed, or nothing once it is this late."""
    try:
        return await asyncio.wait_for(watch.changed(), max(until - time.monotonic(), 0.01))
    except TimeoutError:
        return set()


def _check_access(actor: access.Actor, session: SessionBase, chat_id: str) -> None:
    if not access.is_still_here(actor, session):
        raise SignedOut
    access.get_thread(actor, chat_id)


def _cursor(after: str | None, thread_id: int) -> int | None:
    return forms.cursor(after, Thread.objects.get(pk=thread_id))


def _draw_news(actor: access.Actor, chat_id: str, cursor: int) -> list[dict[str, Any]]:
    """The events after the cursor as frames; access is asked again for each batch (D7)."""
    thread = access.get_thread(actor, chat_id)
    view = fragments.viewpoint(thread, actor)
    return fragments.draw_news(events.events_after(thread.pk, cursor), view)
