"""Another process with a relay, which does what it is told line by line, and says what it hears of."""

import asyncio
import os
import sys
import uuid
from concurrent.futures import Future

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from assistants.llm import loop as stream_loop  # noqa: E402 - the apps must be loaded first
from assistants.turns import executors, hub, live, relay  # noqa: E402

relay.start_relay(sys.argv[1], prefix="trial:")
replies: dict[int, live.LiveReply] = {}


def say(*words: object) -> None:
    # In one piece: two threads say something.
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def follow(topic: str) -> None:
    watch = hub.subscribe(topic)
    while True:
        for changed in await watch.changed():
            kind, _, number = changed.partition(":")
            reply = live.current(int(number)) if kind == "text" else None
            say("heard", changed, repr(reply.text) if reply else "-")


def begin(thread: int, text: str) -> None:
    replies[thread] = live.begin(thread, thread, uuid.uuid4(), 2)
    if text:
        grow(thread, text)


def grow(thread: int, text: str) -> None:
    stream_loop.stream_loop().call_soon_threadsafe(replies[thread].on_text, text)


def carry(turn: int) -> None:
    stream: Future[None] = Future()
    stream.add_done_callback(lambda done: say("cancelled", turn) if done.cancelled() else None)
    executors.carry(turn, stream)


say("ready")
for line in sys.stdin:
    command, _, rest = line.rstrip("\n").partition(" ")
    number, _, text = rest.partition(" ")
    if command == "poke":
        hub.poke(number, but=text)
    elif command == "watch":
        asyncio.run_coroutine_threadsafe(follow(number), stream_loop.stream_loop())
    elif command == "begin":
        begin(int(number), text)
    elif command == "grow":
        grow(int(number), text)
    elif command == "end":
        live.end(replies.pop(int(number)))
    elif command == "carry":
        carry(int(number))
    elif command == "stop":
        executors.cancel(int(number))
    elif command == "state":
        say("healthy" if hub.is_healthy() else "alone")
        continue
    say("done", command)
