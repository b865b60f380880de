"""The socket of one conversation's page: events by number, growing text, live cards. Everything goes down, nothing up."""

import asyncio
import json
import time
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http import Http404
from django.utils import translation

from assistants import access, forms
from assistants.errors import NotAllowed
from assistants.models import Thread
from assistants.rendering import fragments
from assistants.rendering.live_text import LiveText
from assistants.turns import events, hub

SIGNED_OUT, INVISIBLE, TOO_SLOW = 4401, 4404, 4408
CARD_SECONDS = 0.5
ACCESS_SECONDS = 5


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
        self.stream = asyncio.create_task(self._stream())

    async def disconnect(self, code: int) -> None:
        if self.stream:
            self.stream.cancel()

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
        except (Http404, NotAllowed):
            await self.close(INVISIBLE)
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
        fresh = {f"thread:{thread_id}", f"text:{thread_id}", f"tree:{root_id}"}
        next_cards = 0.0
        while True:
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
            fresh = await self._next(watch, next_cards - time.monotonic() if late else ACCESS_SECONDS) | late

    async def _next(self, watch: hub.Subscription, seconds: float) -> set[str]:
        try:
            return await asyncio.wait_for(watch.changed(), max(seconds, 0.01))
        except TimeoutError:
            await self._check_access()
            return set()

    async def _check_access(self) -> None:
        await database_sync_to_async(access.get_thread)(self.actor, self.thread.chat_id)

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


def _cursor(after: str | None, thread_id: int) -> int | None:
    return forms.cursor(after, Thread.objects.get(pk=thread_id))


def _draw_news(actor: access.Actor, chat_id: str, cursor: int) -> list[dict[str, Any]]:
    """The events after the cursor as frames; access is asked again for each batch (D7)."""
    thread = access.get_thread(actor, chat_id)
    view = fragments.viewpoint(thread, actor)
    return fragments.draw_news(events.events_after(thread.pk, cursor), view)
