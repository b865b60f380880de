"""Hints from any thread wake whoever watches, once, and nobody else."""

import asyncio
import threading

from assistants.turns import hub
from assistants.turns.live import LiveReply


async def test_many_hints_from_other_threads_are_one_wake_up_d1() -> None:
    watch = hub.subscribe("thread:1", "tree:1")

    poking = [threading.Thread(target=hub.poke, args=[topic]) for topic in ("thread:1", "tree:1", "thread:1", "thread:2")]
    for thread in poking:
        thread.start()
    for thread in poking:
        thread.join()

    assert await asyncio.wait_for(watch.changed(), 5) == {"thread:1", "tree:1"}
    assert await watch.changed_within(0.01) == set()
    hub.unsubscribe(watch)


async def test_a_hint_on_the_watchers_own_loop_needs_no_detour() -> None:
    watch = hub.subscribe("text:1")

    hub.poke("text:1")

    assert await asyncio.wait_for(watch.changed(), 5) == {"text:1"}
    hub.unsubscribe(watch)


async def test_whoever_learns_of_it_by_another_topic_is_left_alone() -> None:
    page, caller = hub.subscribe("thread:7", "tree:1"), hub.subscribe("thread:1", "tree:1")

    hub.poke("tree:1", but="thread:7")

    assert await caller.changed_within(5) == {"tree:1"}
    assert await page.changed_within(0.01) == set()
    hub.unsubscribe(page)
    hub.unsubscribe(caller)


async def test_nobody_is_woken_after_the_watch_has_ended() -> None:
    watch = hub.subscribe("thread:1")
    hub.unsubscribe(watch)
    hub.unsubscribe(watch)

    hub.poke("thread:1")

    assert await watch.changed_within(0.01) == set()


async def test_the_text_of_a_sub_chat_tells_its_callers_twice_a_second_at_most(monkeypatch) -> None:
    seconds = [100.0]
    monkeypatch.setattr("assistants.clock.monotonic", lambda: seconds[0])
    caller, reply, told = hub.subscribe("tree:1"), LiveReply(7, 1, None, 3), 0

    for _ in range(20):
        seconds[0] += 0.1
        reply.on_text("word ")
        told += bool(await caller.changed_within(0))

    assert told == 4
    hub.unsubscribe(caller)


async def test_the_text_of_a_root_tells_its_own_pages_only() -> None:
    page, tree, reply = hub.subscribe("text:1"), hub.subscribe("tree:1"), LiveReply(1, 1, None, 3)

    reply.on_text("word ")

    assert await page.changed_within(5) == {"text:1"}
    assert await tree.changed_within(0.01) == set()
    hub.unsubscribe(page)
    hub.unsubscribe(tree)
