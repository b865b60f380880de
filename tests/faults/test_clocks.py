"""Clocks that are wrong, differ, or jump while turns run: nothing is taken over early, late or twice (F30, P12)."""

import time

import pytest

from tests.faults.cluster import wait_for
from tests.faults.invariants import check
from tests.kit.stub_llm import call, finish, say

# Longer than a lease of two seconds, and than a start on a busy machine.
LONG = [say("a ", 60, 0.07), call("put", "{}"), finish("tool_calls")]
ANSWER = [say("ok"), finish("stop")]


def script(llm):
    llm.when(results=0).script_forever(LONG)
    llm.when(results=1).script_forever(ANSWER)


@pytest.mark.parametrize("shift", [600, -600, 3600])
def test_f30_p12_workers_whose_clocks_differ_take_nothing_over_early(full, llm, shift):
    script(llm)
    full.kill9("worker1")
    full.shift_clock(shift, "worker1")
    full.start("worker1")

    for number in range(4):
        full.client.open(f"m{number}", f"k{number}")
    full.wait_quiet(40, count=4)

    assert [(turn["state"], turn["attempt"], turn["fence"]) for turn in full.turns()] == [("done", 1, 1)] * 4
    assert len(llm.requests) == 8
    check(full, llm)


@pytest.mark.parametrize("shift", [600, -600])
def test_f30_p12_a_dead_workers_turn_is_taken_over_in_time_by_one_whose_clock_is_wrong(full, llm, shift):
    llm.script([say("a ", 1000, 0.05), finish("stop")], ANSWER)
    full.kill9("worker")
    full.start("worker1")
    full.client.open("hi", "k")
    wait_for(lambda: llm.requests, 15, "the model is asked")
    full.shift_clock(shift, "worker2")
    full.start("worker2")
    full.wait_ready()

    full.kill9("worker1")
    died = time.monotonic()
    wait_for(lambda: full.turns()[0]["attempt"] == 2, 15, "the turn is taken over")

    assert time.monotonic() - died < 10
    full.wait_quiet(30)
    check(full, llm)


@pytest.mark.parametrize("jump", [3600, -3600])
def test_f30_p12_a_jump_in_the_middle_of_a_turn_changes_neither_order_nor_holder(cluster, llm, jump):
    script(llm)
    cluster.client.open("hi", "k")
    wait_for(lambda: llm.requests, 15, "the model is asked")

    cluster.shift_clock(jump)
    cluster.wait_quiet(30)
    cluster.client.open("later", "k2")
    cluster.wait_quiet(30, count=2)

    assert [(turn["state"], turn["attempt"]) for turn in cluster.turns()] == [("done", 1)] * 2
    assert len(llm.requests) == 4 and cluster.effects("put") == 2
    check(cluster, llm)
