"""Processes that hang and come back, and that are told to end while turns run (F09, F11)."""

import threading
import time

import pytest

from assistants.turns.sweeper import LOCK
from tests.faults.cluster import wait_for
from tests.faults.invariants import check
from tests.kit.stub_llm import call, finish, say

ANSWER = [say("ok"), finish("stop")]


@pytest.mark.parametrize("point", ["llm.mid_stream", "tool.intent_committed"])
def test_f09_a_zombies_writes_are_refused_and_another_worker_has_finished(full, llm, point):
    llm.when(results=0).script([say("A", 30, 0.05), call("put", "{}"), finish("tool_calls")])
    llm.when(results=0).script_forever([say("B", 5), call("put", "{}"), finish("tool_calls")])
    llm.when(results=1).script_forever([say("C", 5), finish("stop")])
    full.arm(point, "stop")
    full.client.open("hi", key="k")
    zombie = full.wait_reached()
    full.wait_quiet()
    before = full.turns()[0]["fence"], full.last_event()

    full.cont(zombie)
    time.sleep(2.5)

    after = full.turns()[0]["fence"], full.last_event()
    assert after == before and before[0] >= 2
    assert full.texts("assistant")[-1] == "CCCCC" and full.effects("put") == 1
    check(full, llm)


def test_f09_a_sweeper_that_hangs_holds_up_no_take_over(full, llm):
    llm.script([say("A", 200, 0.05), finish("stop")], ANSWER)
    full.client.open("hi", key="k")
    wait_for(lambda: llm.requests, 15, "the model is asked")
    wait_for(lambda: full.rows("select pg_try_advisory_lock(?) as got", LOCK)[0]["got"], 5, "the lock is held here")

    holder = str(full.turns()[0]["holder"])
    full.kill9(next(name for name in full.roles["worker"] if f":{full.children[name].pid}-" in holder))
    full.wait_quiet(20)

    full.rows("select pg_advisory_unlock_all()")
    assert full.texts("assistant") == ["ok"]
    check(full, llm)


def test_f09_a_server_that_slept_longer_than_its_leases_goes_on_where_it_was(embedded, llm):
    llm.script_forever([say("A", 30, 0.05), finish("stop")])
    embedded.arm("llm.mid_stream", "stop", nth=5)
    embedded.client.open("hi", key="k")
    sleeper = embedded.wait_reached()
    time.sleep(3)

    embedded.cont(sleeper)
    embedded.wait_quiet()

    assert embedded.texts("assistant") == ["A" * 30]
    check(embedded, llm)


def test_f11_p14_a_rolling_restart_fails_no_turn_and_sends_pages_home(cluster, llm):
    llm.when(results=0).script_forever([say("a ", 20, 0.1), call("put", "{}"), finish("tool_calls")])
    llm.when(results=1).script_forever([say("b ", 10, 0.1), finish("stop")])
    chats = [cluster.client.open(f"m{number}", f"k{number}") for number in range(8)]
    page = cluster.client.follow(chats[0])
    reading = threading.Thread(target=lambda: list(page.read_for(60)), daemon=True)
    reading.start()
    wait_for(lambda: len(llm.requests) >= 8, 15, "all turns run")

    for name in cluster.names:
        cluster.term(name)
        cluster.wait_gone(name, within=20)
        if cluster.profile == "full":
            assert cluster.children[name].poll() == 0
        cluster.start(name)
    cluster.wait_quiet(60, count=8)
    reading.join(5)

    assert [turn["state"] for turn in cluster.turns()] == ["done"] * 8
    assert page.closed == 4012
    assert cluster.effects("put") == 8
    check(cluster, llm)
