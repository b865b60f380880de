"""Redis is restarted, emptied, full or hangs, and bells come five times or never: the database makes up for it (F14 to F16)."""

import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest
from celery import Celery

from tests.faults.cluster import wait_for
from tests.faults.invariants import check
from tests.kit.stub_llm import finish, say

ANSWER = [say("ok"), finish("stop")]
QUEUE = "taskmonkey:turns"


def restart(cluster):
    cluster.redis.end()
    time.sleep(0.3)
    cluster.redis.start()


def flush(cluster):
    cluster.redis.client().flushall()


def fill(cluster):
    cluster.redis.client().config_set("maxmemory", "1")


@pytest.fixture
def bell(full):
    """Rings like the site itself does, as often as somebody likes."""
    app = Celery(broker=full.redis.url)
    app.conf.broker_transport_options = {"global_keyprefix": "taskmonkey:"}
    yield lambda turn_id: app.send_task("assistants.tasks.look_at_turn", [turn_id], queue="turns", ignore_result=True)
    app.close()


def is_consumed(cluster, bell):
    """Whether a bell that is rung now is heard by a worker."""
    bell(1)
    wait_for(lambda: not cluster.redis.client().llen(QUEUE), 15, "the workers consume again")


@pytest.mark.parametrize("fault", [restart, flush, fill])
def test_f14_p10_a_redis_that_fails_loses_nothing_and_is_used_again_by_itself(full, llm, bell, fault):
    llm.script_forever([say("word ", 20, 0.05), finish("stop")])
    chat = full.client.open("before", "k0")
    page = full.client.follow(chat)
    wait_for(lambda: llm.requests, 10, "the model is asked")

    fault(full)
    answer = full.client.send(chat, "after", "k1")

    assert answer is not None and answer.status_code == 204
    full.wait_quiet(30, count=2)
    assert any("after" in frame.get("html", "") for frame in page.frames) or page.sees("after", within=60)
    full.redis.client().config_set("maxmemory", "256mb")
    is_consumed(full, bell)
    check(full, llm)


def test_f15_p10_a_redis_that_hangs_holds_up_nobody(full, llm):
    llm.script_forever(ANSWER)
    full.client.open("warm", "k")
    full.wait_quiet()
    full.redis.stop()
    try:
        times = []
        for number in range(6):
            started = time.monotonic()
            assert full.client.open(f"m{number}", f"k{number}")
            times.append(time.monotonic() - started)
        full.wait_quiet(30, count=7)
    finally:
        full.redis.cont()

    # Whoever waited for Redis would do so each time; a busy machine is slow now and then.
    assert median(times) < 2
    check(full, llm)


def test_f16_a_bell_that_rings_five_times_at_once_starts_one_runner(full, llm, bell):
    llm.script_forever([say("word ", 20, 0.05), finish("stop")])
    full.client.open("hi", "k")
    turn = full.turns()[0]["id"]

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: bell(turn), range(5)))
    full.wait_quiet()
    bell(turn)
    time.sleep(1)

    assert len(llm.requests) == 1 and full.turns()[0]["attempt"] == full.turns()[0]["fence"] == 1
    check(full, llm)


def test_f16_without_any_bell_the_sweeper_finds_the_turn(full, llm):
    llm.script_forever(ANSWER)
    # What the site rings is refused, so no worker hears of anything.
    fill(full)
    try:
        full.client.open("hi", "k")
        full.wait_quiet(15)
    finally:
        full.redis.client().config_set("maxmemory", "256mb")

    assert len(llm.requests) == 1 and full.turns()[0]["attempt"] == 1
    assert full.redis.client().llen(QUEUE) == 0
    check(full, llm)
