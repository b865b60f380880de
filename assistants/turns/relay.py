"""Carries hints and growing text between processes, over Redis; all of it may be lost, and is made up for (D1)."""

import asyncio
import json
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from typing import Any
from uuid import UUID

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from assistants import clock
from assistants.llm import loop as stream_loop

from . import executors, hub, live

log = logging.getLogger(__name__)

# Seconds: no call to Redis takes longer, and after one that failed none is tried for so long (F15).
TIMEOUT, REST, PULSE = 1.0, 1.0, 2.0
# What a process still has to tell; the oldest is dropped, as it would be with a lost connection.
LONGEST_BACKLOG = 10_000
# Between two questions for the whole of a reply whose beginning was missed.
ASK_SECONDS = 0.5
# Channels that every process listens to: model calls to end, and replies that somebody needs the whole of.
TURNS, ASKED = "turns", "asked"
TEXT = "text:"


def start_relay(address: str, *, prefix: str = "taskmonkey:") -> None:
    """Joins this process with all others that use the same Redis and prefix; call it once, before anything is watched."""
    relay = RedisRelay(address, prefix)
    hub.use_relay(relay)
    live.use_teller(relay)
    executors.use_relay(relay.end_call)
    stream_loop.submit(relay.run())


class RedisRelay:
    """One connection that tells and one that listens, both on the stream loop. Text is told as it is when its turn comes,
    so whatever came meanwhile goes along, and nothing waits for a timer."""

    def __init__(self, address: str, prefix: str) -> None:
        self._hears = self._tells = False
        self._prefix = prefix
        options: dict[str, Any] = {"socket_connect_timeout": TIMEOUT, "retry": Retry(NoBackoff(), 0)}
        self._telling = Redis.from_url(address, socket_timeout=TIMEOUT, max_connections=2, **options)
        self._hearing = Redis.from_url(address, socket_timeout=None, max_connections=2, **options)
        self._loop = stream_loop.stream_loop()
        self._lock = threading.Lock()
        self._hints: deque[tuple[str, dict[str, Any]]] = deque(maxlen=LONGEST_BACKLOG)
        # How many characters of each growing reply were told: of its text, and of its reasoning.
        self._told: dict[live.LiveReply, tuple[int, int]] = {}
        self._grown: set[live.LiveReply] = set()
        self._topics: set[str] = {TURNS, ASKED}
        self._pubsub: PubSub | None = None
        self._asked: dict[int, float] = {}
        self._news = asyncio.Event()

    @property
    def healthy(self) -> bool:
        """Whether hints go both ways at the moment."""
        return self._hears and self._tells

    async def run(self) -> None:
        """Tells and listens for as long as the process lives."""
        await asyncio.gather(self._keep(self._tell_all()), self._keep(self._hear_all()))

    async def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            log.exception("hints to and from other processes have ended; pages look into the database from now on")
            self._hears = False

    # --- what happens here ---------------------------------------------------------------------------------------
    def tell(self, topic: str, but: str) -> None:
        """A topic changed here; called from any thread, never waits."""
        self._hints.append((topic, {"but": but} if but else {}))
        self._wake()

    def grow(self, reply: live.LiveReply) -> None:
        """A reply grew here; the others are told all that is new at once."""
        self._grown.add(reply)
        self._wake()

    def close(self, reply: live.LiveReply) -> None:
        """A reply of this process is stored, and pages draw it from the record."""
        self._told.pop(reply, None)
        self._hints.append((f"{TEXT}{reply.thread_id}", {"over": reply.run}))
        self._wake()

    def end_call(self, turn_id: int, abandoned: bool) -> None:
        """A model call is to end wherever it runs, and its runner is given up if the turn was taken from it."""
        self._hints.append((TURNS, {"turn": turn_id, "abandoned": abandoned}))
        self._wake()

    def watch(self, topic: str) -> None:
        """Hears of a topic from now on; text is asked for, since it may have begun long ago."""
        self._topics.add(topic)
        asyncio.run_coroutine_threadsafe(self._subscribe(topic), self._loop)

    def unwatch(self, topic: str) -> None:
        """Hears of it no longer."""
        self._topics.discard(topic)
        asyncio.run_coroutine_threadsafe(self._unsubscribe(topic), self._loop)
        reply = live.current(int(topic.removeprefix(TEXT))) if topic.startswith(TEXT) else None
        if reply and reply.is_copy:
            live.end(reply)

    def _wake(self) -> None:
        if not self._news.is_set():
            self._loop.call_soon_threadsafe(self._news.set)

    # --- telling -------------------------------------------------------------------------------------------------
    async def _tell_all(self) -> None:
        while True:
            hints: list[tuple[str, dict[str, Any]]] = []
            try:
                if await self._something_new():
                    hints = self._take_hints()
                    await self._publish([*hints, *self._take_text()])
                else:
                    await self._telling.ping()
                self._tells = True
            except (RedisError, OSError, TimeoutError) as error:
                # Meanwhile others look into the database (see `lookout`).
                self._tells = False
                log.warning("other processes can't be told of changes: %s", error)
                await asyncio.sleep(REST)
                self._hints.extendleft(reversed(hints))
                self._tell_text_anew()

    async def _something_new(self) -> bool:
        """Waits for something to tell; False once a server that hangs should be noticed (seconds: `PULSE`)."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), PULSE)
        new = self._news.is_set()
        self._news.clear()
        return new

    def _tell_text_anew(self) -> None:
        """Somebody may have missed a part, or asked for it in vain."""
        self._told.clear()
        self._grown.update(live.own())
        self._news.set()

    async def _publish(self, messages: list[tuple[str, dict[str, Any]]]) -> None:
        async with self._telling.pipeline(transaction=False) as pipe:
            for topic, message in messages:
                pipe.publish(self._prefix + topic, json.dumps(message, ensure_ascii=False, separators=(",", ":")))
            await pipe.execute()

    def _take_hints(self) -> list[tuple[str, dict[str, Any]]]:
        """All hints, each once: a topic that changed ten times is looked at once."""
        hints = {}
        while self._hints:
            topic, message = self._hints.popleft()
            hints[topic, *message.items()] = (topic, message)
        return list(hints.values())

    def _take_text(self) -> list[tuple[str, dict[str, Any]]]:
        grown, self._grown = self._grown, set()
        return [(f"{TEXT}{reply.thread_id}", self._growth(reply)) for reply in grown if live.current(reply.thread_id) is reply]

    def _growth(self, reply: live.LiveReply) -> dict[str, Any]:
        """What of a reply was not told yet, and from which character on it is."""
        text, reasoning = reply.text, reply.reasoning_text
        told, thought = self._told.get(reply, (0, 0))
        self._told[reply] = (len(text), len(reasoning))
        return {
            "run": reply.run,
            "root": reply.root_id,
            "message": str(reply.message_id),
            "sequence": reply.sequence,
            "shown": reply.shown,
            "at": [told, thought],
            "text": text[told:],
            "reasoning": reasoning[thought:],
        }

    # --- listening -----------------------------------------------------------------------------------------------
    async def _hear_all(self) -> None:
        while True:
            pubsub = self._hearing.pubsub()
            try:
                topics = set(self._topics)
                await pubsub.subscribe(*(self._prefix + topic for topic in sorted(topics)))
                # Only one that is connected is given to `_subscribe`: of two who connect it, one connection would be lost.
                self._pubsub = pubsub
                if missing := self._topics - topics:
                    await pubsub.subscribe(*(self._prefix + topic for topic in sorted(missing)))
                while True:
                    await self._hear(await pubsub.get_message(timeout=None))
            except (RedisError, OSError, TimeoutError) as error:
                log.warning("changes in other processes are not heard of: %s", error)
            finally:
                self._hears, self._pubsub = False, None
                await _close(pubsub)
            await asyncio.sleep(REST)

    async def _hear(self, message: dict[str, Any] | None) -> None:
        if message is None:
            return
        topic = message["channel"].decode().removeprefix(self._prefix)
        if message["type"] == "subscribe":
            self._hears = True
            # What changed before is looked at once more; the subscription holds only from now on (D6).
            hub.wake(topic)
            if topic == ASKED:
                self._tell_text_anew()
            if topic.startswith(TEXT):
                self._ask(int(topic.removeprefix(TEXT)))
        elif message["type"] == "message":
            try:
                self._take(topic, json.loads(message["data"]))
            except (ValueError, KeyError, TypeError):
                log.warning("a message on %s was not understood", topic, exc_info=True)

    def _take(self, topic: str, message: dict[str, Any]) -> None:
        if topic == TURNS:
            end = executors.abandon_here if message["abandoned"] else executors.cancel_here
            end(message["turn"])
        elif topic == ASKED:
            reply = live.current(message["thread"])
            if reply and not reply.is_copy:
                self._told.pop(reply, None)
                self.grow(reply)
        elif topic.startswith(TEXT):
            self._copy(int(topic.removeprefix(TEXT)), message)
        else:
            hub.wake(topic, but=message.get("but", ""))

    def _copy(self, thread_id: int, news: dict[str, Any]) -> None:
        reply = live.current(thread_id)
        if reply and not reply.is_copy:
            return
        if over := news.get("over"):
            if reply and reply.run == over:
                live.end(reply)
            return
        told, thought = news["at"]
        if reply is None or reply.run != news["run"]:
            if told or thought:
                return self._ask(thread_id)
            number, shown = news["sequence"], news["shown"]
            reply = live.LiveReply(thread_id, news["root"], UUID(news["message"]), number, shown, news["run"], is_copy=True)
            live.keep_copy(reply)
        has, thinks = len(reply.text), len(reply.reasoning_text)
        if told > has or thought > thinks:
            return self._ask(thread_id)
        # It may overlap with what is there, after the whole was sent to somebody else.
        text, reasoning = news["text"][has - told :], news["reasoning"][thinks - thought :]
        if text or reasoning:
            reply.follow(text, reasoning)

    def _ask(self, thread_id: int) -> None:
        now = clock.monotonic()
        if now - self._asked.get(thread_id, -ASK_SECONDS) < ASK_SECONDS:
            return
        self._asked = {thread: at for thread, at in self._asked.items() if now - at < ASK_SECONDS} | {thread_id: now}
        self._hints.append((ASKED, {"thread": thread_id}))
        self._wake()

    async def _subscribe(self, topic: str) -> None:
        if self._pubsub is not None and topic in self._topics:
            await _calmly(self._pubsub.subscribe(self._prefix + topic))

    async def _unsubscribe(self, topic: str) -> None:
        if self._pubsub is not None and topic not in self._topics:
            await _calmly(self._pubsub.unsubscribe(self._prefix + topic))


async def _calmly(command: Awaitable[Any]) -> None:
    """What goes wrong here, the listener hears of as well, and connects anew."""
    try:
        await command
    except (RedisError, OSError, TimeoutError) as error:
        log.info("a subscription waits for the next connection: %s", error)


async def _close(pubsub: PubSub) -> None:
    with suppress(RedisError, OSError, TimeoutError):
        await pubsub.aclose()  # type: ignore[no-untyped-call]
