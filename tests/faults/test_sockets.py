"""Readers that are slow, sockets that flap, and cursors that nobody gave out (F27, F28)."""

import pytest

from tests.faults.cluster import wait_for
from tests.faults.invariants import check
from tests.faults.measures import measure_slow_reader
from tests.faults.tally import Tally
from tests.kit.stub_llm import finish, say

STRANGE = (-1, 10**18, "x", "", "1e3", "%00", "٣", "9" * 40)


def test_f27_p9_a_reader_who_reads_nothing_costs_bounded_memory_and_hurts_nobody(embedded, llm):
    tally = Tally()

    measure_slow_reader(embedded, llm, tally)

    assert tally.counts["P9"] == {"readers who read nothing, let go and caught up, embedded": 1}


def test_f28_p5_a_flapping_socket_sees_every_event_once(cluster, llm):
    llm.script_forever([say("word ", 40, 0.05), finish("stop")])
    chat = cluster.client.open("hi", "k")
    for number in range(3):
        cluster.client.send(chat, f"next {number}", f"n{number}")

    seen: list[int] = []
    for _ in range(25):
        page = cluster.client.follow(chat, seen[-1] if seen else 0)
        list(page.read_for(0.2))
        page.drop()
        seen += page.numbers
    cluster.wait_quiet(40, count=4)
    last = cluster.client.follow(chat, seen[-1] if seen else 0)
    final = cluster.last_event()
    wait_for(lambda: list(last.read_for(0.1)) is not None and (seen + last.numbers)[-1:] == [final], 10, "it is up to date")

    assert seen + last.numbers == list(range(1, final + 1))
    last.drop()
    check(cluster, llm)


@pytest.mark.parametrize("cursor", STRANGE)
def test_f28_a_strange_cursor_gets_one_reset_and_no_events(cluster, llm, cursor):
    llm.script_forever([say("ok"), finish("stop")])
    chat = cluster.client.open("hi", "k")
    cluster.wait_quiet()

    page = cluster.client.follow(chat, cursor)
    frames = list(page.read_for(0.5))
    polled = cluster.client.events(chat, cursor)

    assert frames == [{"reset": True}] and polled == {"reset": True}
    page.drop()


def test_f28_two_tabs_agree_whichever_process_serves_them(full, llm):
    llm.script_forever([say("word ", 10, 0.05), finish("stop")])
    chat = full.client.open("hi", "k")
    tabs = [full.client.follow(chat) for _ in range(6)]
    full.wait_quiet()
    last = full.last_event()

    for tab in tabs:
        wait_for(lambda tab=tab: list(tab.read_for(0.05)) is not None and tab.cursor == last, 10, "the tab is up to date")
    numbered = [[frame for frame in tab.frames if "n" in frame] for tab in tabs]

    assert all([frame["n"] for frame in frames] == list(range(1, last + 1)) for frames in numbered)
    full.kill9("web1")
    after = [tab for tab in tabs if list(tab.read_for(0.3)) is not None and tab.closed]
    assert full.client.follow(chat, last) and len(after) <= len(tabs)
    check(full, llm)
