"""Hints, text and stops between processes, over a real Redis that is restarted, hung and emptied (D1, F14, F15, P10)."""

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from environment import find_service
from tests.faults.stores import Redis
from tests.kit.waiting import until

MISSING = find_service("redis-server", "redis-server")
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
PATIENCE = 60.0


class Peer:
    """One process, as `relay_peer` makes it."""

    def __init__(self, address: str) -> None:
        command = [sys.executable, "-m", "tests.turns.relay_peer", address]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines: queue.Queue[str] = queue.Queue()
        self.answers: queue.Queue[str] = queue.Queue()
        self.reading = threading.Thread(target=self._read, daemon=True)
        self.reading.start()
        assert self.answers.get(timeout=60) == "ready"

    def tell(self, command: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self.answers.get(timeout=PATIENCE)

    def wait(self, *words: str) -> str:
        """The next line that holds all of the words; what comes before it is left out."""
        end = time.monotonic() + PATIENCE
        while (left := end - time.monotonic()) > 0:
            try:
                line = self.lines.get(timeout=left)
            except queue.Empty:
                break
            if all(word in line for word in words):
                return line
        raise AssertionError(f"no line with {words} within {PATIENCE} s")

    def silent(self, word: str, seconds: float = 0.5) -> bool:
        """Whether no such line comes for so long."""
        time.sleep(seconds)
        return not any(word in self.lines.get_nowait() for _ in range(self.lines.qsize()))

    def until_healthy(self, wanted: str = "healthy") -> None:
        until(lambda: self.tell("state") == wanted)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reading.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            with suppress(OSError):
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            told = line.startswith(("heard", "cancelled"))
            (self.lines if told else self.answers).put(line.rstrip("\n"))


@pytest.fixture(scope="module")
def broker() -> Iterator[Redis]:
    made = Redis()
    made.start()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def pair(broker) -> Iterator[tuple[Peer, Peer]]:
    peers = Peer(broker.url), Peer(broker.url)
    try:
        for peer in peers:
            peer.until_healthy()
        yield peers
    finally:
        for peer in peers:
            peer.close()


def test_a_change_in_one_process_wakes_watchers_in_another(pair) -> None:
    page, worker = pair
    page.tell("watch thread:1")
    page.wait("heard thread:1")

    worker.tell("poke thread:1")

    page.wait("heard thread:1")


def test_whoever_learns_of_it_by_another_topic_is_left_alone_there_too(pair) -> None:
    page, worker = pair
    page.tell("watch thread:2")
    page.wait("heard thread:2")

    worker.tell("poke thread:2 thread:2")

    assert page.silent("heard thread:2")


def test_report_s17_text_grows_in_the_other_process_as_it_is_streamed(pair) -> None:
    page, worker = pair
    page.tell("watch text:3")
    page.wait("heard text:3")

    worker.tell("begin 3 Once")
    page.wait("heard text:3", "'Once'")
    worker.tell("grow 3  upon a time – “🐒”")

    page.wait("heard text:3", "'Once upon a time – “🐒”'")


def test_a_page_that_comes_late_is_told_the_whole(pair) -> None:
    page, worker = pair
    worker.tell("begin 4 The beginning")
    time.sleep(0.2)

    page.tell("watch text:4")

    page.wait("heard text:4", "'The beginning'")
    worker.tell("grow 4  and the end")
    page.wait("heard text:4", "'The beginning and the end'")


def test_p6_a_new_attempt_replaces_the_text_of_the_old_one(pair) -> None:
    page, worker = pair
    page.tell("watch text:5")
    worker.tell("begin 5 old words")
    page.wait("heard text:5", "'old words'")

    worker.tell("begin 5 new")

    page.wait("heard text:5", "'new'")


def test_a_reply_that_is_stored_is_shown_from_the_record_again(pair) -> None:
    page, worker = pair
    page.tell("watch text:6")
    worker.tell("begin 6 all of it")
    page.wait("heard text:6", "'all of it'")

    worker.tell("end 6")

    until(lambda: _looks_again(page, "text:6").endswith("-"))


def test_t1_a_stop_reaches_the_process_that_streams(pair) -> None:
    page, worker = pair
    worker.tell("carry 77")

    page.tell("stop 77")

    worker.wait("cancelled 77")


def test_report_s19_a_listener_outlives_idle_minutes_of_its_client(broker, pair) -> None:
    # The client's own time-out of 5 s once closed listeners that heard nothing for so long.
    page, worker = pair
    page.tell("watch thread:10")
    page.wait("heard thread:10")
    before = _listeners(broker)
    time.sleep(5.5)

    worker.tell("poke thread:10")

    page.wait("heard thread:10")
    assert _listeners(broker) == before and page.tell("state") == "healthy"


def test_f14_after_redis_was_gone_text_and_hints_come_again_by_themselves(broker, pair) -> None:
    page, worker = pair
    page.tell("watch text:8")
    page.tell("watch thread:8")
    worker.tell("begin 8 before")
    page.wait("heard text:8", "'before'")

    _drop_connections(broker)
    worker.tell("grow 8  and what was said meanwhile")

    page.wait("heard text:8", "'before and what was said meanwhile")
    page.until_healthy()
    worker.until_healthy()
    worker.tell("poke thread:8")
    page.wait("heard thread:8")


def test_f15_nobody_waits_for_a_redis_that_hangs(broker, pair) -> None:
    page, worker = pair
    page.tell("watch thread:9")
    page.wait("heard thread:9")
    broker.stop()
    try:
        started = time.monotonic()
        for _ in range(50):
            worker.tell("poke thread:9")
        took = time.monotonic() - started
        # And both know that nothing gets through.
        page.until_healthy("alone")
        worker.until_healthy("alone")
    finally:
        broker.cont()

    assert took < 10
    until(lambda: not _still(page, worker))
    page.until_healthy()
    worker.until_healthy()


def _looks_again(page: Peer, topic: str) -> str:
    page.tell(f"poke {topic}")
    return page.wait(f"heard {topic}")


def _still(page: Peer, worker: Peer) -> bool:
    worker.tell("poke thread:9")
    return page.silent("heard thread:9", 0.3)


def _listeners(broker: Redis) -> set[str]:
    with broker.client() as client:
        return {each["id"] for each in client.client_list(_type="pubsub")}


def _drop_connections(broker: Redis) -> None:
    with broker.client() as client:
        for kind in ("pubsub", "normal"):
            client.client_kill_filter(_type=kind, skipme=True)
