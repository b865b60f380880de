"""The database is locked, gone, full, or cuts its connections, while people write and turns run (F12, F13, F29)."""

import random
import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.faults.invariants import check
from tests.faults.stores import open_folder
from tests.kit.stub_llm import call, finish, say

ANSWER = [say("ok"), finish("stop")]
POINTS = ("send.committed", "turn.claimed", "llm.mid_stream", "step.committed", "tool.effect_done", "turn.finishing")


def two_steps(llm):
    llm.when(results=0).script_forever([say("a ", 10, 0.03), call("put", "{}"), finish("tool_calls")])
    llm.when(results=1).script_forever([say("b ", 10, 0.03), finish("stop")])


@contextmanager
def locked(cluster, seconds):
    """Another program writes for so long."""
    ready, end = threading.Event(), threading.Event()

    def hold():
        with cluster.data.connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            ready.set()
            end.wait(seconds)
            connection.rollback()

    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait(10)
    yield
    end.set()
    thread.join()


def test_f12_a_locked_database_is_waited_for_and_then_said_to_be_busy(build, llm):
    llm.script_forever(ANSWER)
    cluster = build("embedded", TEST_SQLITE_SECONDS="3")
    cluster.start()
    chat = cluster.client.open("hi", key="k")
    cluster.wait_quiet()

    with locked(cluster, 1.5):
        waited = cluster.client.send(chat, "short", "k1")
    with locked(cluster, 30):
        refused = cluster.client.send(chat, "long", "k2")

    assert waited.status_code == 204
    assert refused.status_code == 503 and "Your text was kept" in refused.text
    assert cluster.client.send(chat, "long", "k2").status_code == 204
    cluster.wait_quiet(count=3)
    check(cluster, llm)


def test_f12_fifty_writers_at_once_are_all_taken_in(cluster, llm):
    llm.script_forever(ANSWER)
    chats = [cluster.client.open(f"c{number}", f"c{number}") for number in range(5)]

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda number: cluster.client.send(chats[number % 5], "z", f"z{number}"), range(50)))

    assert all(answer is not None and answer.status_code in (204, 400) for answer in answers), [a.text for a in answers if a]
    refused = [answer for answer in answers if answer.status_code == 400]
    assert all("QUEUE_FULL" in answer.text for answer in refused)
    cluster.wait_quiet(60, count=5 + 50 - len(refused))
    check(cluster, llm)


def test_f13_postgres_crashes_and_comes_back_and_no_turn_is_lost(full, llm):
    two_steps(llm)
    for number in range(6):
        full.client.open(f"m{number}", f"k{number}")
    server = full.data.server

    for pause in (0.2, 0.6):
        time.sleep(pause)
        server.crash()
        time.sleep(0.5)
        server.start()
    full.wait_quiet(60, count=6)

    assert [turn["state"] for turn in full.turns()] == ["done"] * 6 and full.effects("put") == 6
    full.client.send_or_open("after", "k-after")
    check(full, llm)


def test_f13_connections_that_are_cut_at_random_moments_cost_no_turn(full, llm):
    two_steps(llm)
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    moments = random.Random(seed)
    with ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(full.client.send_or_open, f"m{number}", f"k{number}") for number in range(8)]
        for _ in range(12):
            time.sleep(moments.uniform(0, 0.25))
            full.data.server.disconnect(full.data.url)
        for each in sent:
            each.result()
    full.client.retry_unknown()
    full.wait_quiet(60, count=8)

    assert [turn["state"] for turn in full.turns()] == ["done"] * 8 and full.effects("put") == 8
    check(full, llm)


@pytest.mark.parametrize("point", POINTS)
def test_f13_connections_that_are_cut_at_a_point_cost_no_turn(full, llm, point):
    two_steps(llm)
    full.arm(point, "stop")
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(full.client.send_or_open, "hi", "k")
        stopped = full.wait_reached()
        full.data.server.disconnect(full.data.url)
        full.cont(stopped)
        sent.result()
    full.client.retry_unknown()
    full.wait_quiet()

    assert full.turns()[0]["state"] == "done" and full.effects("put") == 1
    check(full, llm)


@pytest.fixture
def small_disk():
    """A disk of its own for one home; only root may make one."""
    folder = open_folder()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m,mode=755", "tmpfs", str(folder)], capture_output=True)
    if made.returncode:
        shutil.rmtree(folder)
        pytest.skip(f"a small disk can't be mounted here: {made.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)])
    shutil.rmtree(folder, ignore_errors=True)


def test_f29_a_full_disk_refuses_sends_keeps_everything_readable_and_recovers_by_itself(build, llm, small_disk):
    llm.script_forever(ANSWER)
    cluster = build("embedded", home=small_disk)
    cluster.start()
    chat = cluster.client.open("hi", key="k")
    cluster.wait_quiet()
    ballast = small_disk / "ballast"
    with suppress_full(), open(ballast, "wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)

    # The log has some room left of its own.
    answers = (cluster.client.try_to_open("x" * 60_000, f"full{number}") for number in range(200))
    refused = next(answer for answer in answers if answer is None or answer.status_code != 204)
    page = cluster.client.get(f"/c/{chat}/")
    ballast.unlink()

    assert refused is not None and refused.status_code in (503, 507) and "Your text was kept" in refused.text
    assert page.status_code == 200 and "hi" in page.text
    assert cluster.rows("PRAGMA integrity_check")[0][0] == "ok"
    assert cluster.client.send(chat, "again", "k2").status_code == 204
    cluster.wait_quiet(60)
    check(cluster, llm)


@contextmanager
def suppress_full():
    try:
        yield
    except OSError as error:
        assert error.errno == 28, error
