"""The server is killed with -9 at each of the sixteen points; after a restart the turn goes on by itself (F01 to F08)."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from tests.faults.cluster import decoded, wait_for
from tests.faults.invariants import check
from tests.kit.stub_llm import call, finish, never, say

ANSWER = [say("ok"), finish("stop")]
BUSY = ("thinking", "acting", "queued", "paused")


def one_call(tool, args="{}"):
    return [call(tool, args), finish("tool_calls")]


def delegation(assistant, task):
    return one_call("invoke_assistant", f'{{"assistant": "{assistant}", "task": "{task}"}}')


def test_f01_killed_before_the_commit_nothing_is_stored_and_the_retry_stores_once(cluster, llm):
    llm.script_forever(ANSWER)
    cluster.arm("send.received")

    assert cluster.client.open("hi", key="k1") is None
    cluster.wait_reached()
    assert cluster.texts("user") == []

    cluster.carry_on()
    cluster.client.open("hi", key="k1")
    cluster.wait_quiet()
    assert cluster.texts("user") == ["hi"] and len(llm.requests) == 1
    check(cluster, llm)


def test_f02_killed_after_the_commit_fifty_retries_return_the_one_message(cluster, llm):
    llm.script_forever(ANSWER)
    cluster.arm("send.committed")
    cluster.client.open("hi", key="k2")
    cluster.wait_reached()
    cluster.carry_on()

    with ThreadPoolExecutor(10) as pool:
        chats = set(pool.map(lambda _: cluster.client.open("hi", key="k2"), range(50)))

    cluster.wait_quiet()
    assert len(chats) == 1 and None not in chats
    assert cluster.texts("user") == ["hi"] and len(cluster.turns()) == 1
    assert len(llm.requests) == 1
    check(cluster, llm)


def test_f02_killed_after_the_answer_a_retry_changes_nothing(cluster, llm):
    llm.script_forever(ANSWER)
    cluster.arm("send.replied")
    first = cluster.client.open("hi", key="k2")
    cluster.wait_reached()
    cluster.carry_on()

    again = cluster.client.open("hi", key="k2")

    cluster.wait_quiet()
    assert first in (None, again) and cluster.texts("user") == ["hi"] and cluster.texts("assistant") == ["ok"]
    check(cluster, llm)


def test_f03_killed_just_after_the_claim_the_turn_is_taken_over_with_one_request(cluster, llm):
    llm.script_forever(ANSWER)
    cluster.arm("turn.claimed")
    cluster.client.open("hi", key="k3")
    cluster.wait_reached()

    died = cluster.carry_on()
    cluster.wait_quiet()

    assert time.monotonic() - died < 10
    assert len(llm.requests) == 1 and cluster.turns()[0]["attempt"] == 2
    check(cluster, llm)


def test_f04_killed_in_mid_stream_the_second_attempt_replaces_the_first(cluster, llm):
    llm.script([say("A", 60, 0.05), finish("stop")], [say("B", 50), finish("stop")])
    cluster.arm("llm.mid_stream", nth=45)
    cluster.client.open("hi", key="k4")
    cluster.wait_reached()
    partial = cluster.texts("assistant")[0]
    assert partial and set(partial) == {"A"}

    cluster.carry_on()
    cluster.wait_quiet()

    assert cluster.texts("assistant") == ["B" * 50] and len(llm.requests) == 2
    check(cluster, llm)


def test_f05_killed_with_the_whole_answer_in_memory_no_tool_of_it_runs(cluster, llm):
    llm.script(one_call("charge"), one_call("charge"), ANSWER)
    cluster.arm("llm.finished")
    cluster.client.open("hi", key="k5")
    cluster.wait_reached()
    assert cluster.effects("charge") == 0

    cluster.carry_on()
    cluster.wait_quiet()

    assert len(llm.requests) == 3 and len(cluster.texts("assistant")) == 2 and cluster.effects("charge") == 1
    check(cluster, llm)


@pytest.mark.parametrize(("tool", "effects"), [("look", 2), ("put", 1)])
def test_f06_done_but_not_stored_a_repeatable_tool_runs_again(cluster, llm, tool, effects):
    llm.script(one_call(tool), ANSWER)
    cluster.arm("tool.effect_done")
    cluster.client.open("hi", key="k6")
    cluster.wait_reached()
    cluster.carry_on()
    cluster.wait_quiet()

    assert cluster.effects(tool) == effects and cluster.texts("assistant")[-1] == "ok"
    check(cluster, llm)


@pytest.mark.parametrize("point", ["tool.intent_committed", "tool.effect_done"])
def test_f06_a_tool_that_must_not_repeat_waits_for_a_persons_word(cluster, llm, point):
    llm.script(one_call("charge"), ANSWER)
    cluster.arm(point)
    cluster.client.open("hi", key="k6")
    cluster.wait_reached()
    before = cluster.effects("charge")
    cluster.carry_on()
    # The call is marked in one transaction, and its turn put to sleep in the next.
    query = (
        "select c.id from assistants_toolcall c join assistants_turn t on t.id = c.turn_id"
        " where c.needs_decision and t.state = 'waiting'"
    )
    call_id = UUID(str(wait_for(lambda: cluster.rows(query), 15, "the call asks for a decision")[0]["id"]))
    assert cluster.effects("charge") == before

    answer = cluster.client.post(f"/call/{call_id}/decide/", happened="1")

    assert answer is not None and answer.status_code == 204
    cluster.wait_quiet()
    assert cluster.effects("charge") == before and cluster.texts("assistant")[-1] == "ok"
    check(cluster, llm)


def test_f07_stored_but_never_woken_the_sweeper_goes_on_without_repeating_the_tool(cluster, llm):
    llm.script(one_call("charge"), ANSWER)
    cluster.arm("tool.result_committed")
    cluster.client.open("hi", key="k7")
    cluster.wait_reached()
    cluster.carry_on()
    cluster.wait_quiet()

    assert cluster.effects("charge") == 1 and cluster.texts("assistant")[-1] == "ok"
    check(cluster, llm)


@pytest.mark.parametrize("point", ["spawn.committed", "child.finished", "step.committed", "turn.finishing", "turn.terminal"])
def test_f08_parent_or_child_dies_one_child_and_one_result_remain(cluster, llm, point):
    llm.when(system="You are lead", results=0).script_forever(delegation("middle", "part"))
    llm.when(system="You are lead", results=1).script_forever(ANSWER)
    llm.when(system="You are middle", results=0).script_forever(delegation("leaf", "detail"))
    llm.when(system="You are middle", results=1).script_forever([say("middle"), finish("stop")])
    llm.when(system="You are leaf").script_forever([say("leaf"), finish("stop")])
    cluster.arm(point)
    cluster.client.open("hi", key="k8")
    cluster.wait_reached()
    cluster.carry_on()
    cluster.wait_quiet()

    assert cluster.texts("assistant").count("leaf") == 1 and "ok" in cluster.texts("assistant")
    assert len(cluster.rows("select id from subchats_delegation")) == 2
    check(cluster, llm)


@pytest.mark.parametrize(("point", "nth"), [("spawn.committed", 2), ("child.finished", 1), ("child.finished", 3)])
def test_f08_a_fan_out_at_depth_two_dies_three_children_and_one_result_remain(cluster, llm, point, nth):
    plan = {"steps": [{"description": "Look at three parts", "check": "Three reports", "specialist": "leaf"}]}
    tasks = [{"assistant": "leaf", "task": f"part {number}", "label": f"Part {number}"} for number in range(3)]
    llm.when(system="You are lead", results=0).script_forever(delegation("middle", "part"))
    llm.when(system="You are lead", results=1).script_forever(ANSWER)
    llm.when(system="You are middle", results=0).script_forever(one_call("write_plan", json.dumps(plan)))
    llm.when(system="You are middle", results=1).script_forever(one_call("spawn_agents", json.dumps({"tasks": tasks})))
    llm.when(system="You are middle", results=2).script_forever([say("middle"), finish("stop")])
    llm.when(system="You are leaf").script_forever([say("leaf", 4, 0.05), finish("stop")])
    cluster.arm(point, nth=nth)
    cluster.client.open("hi", key="k8")
    cluster.wait_reached()
    cluster.carry_on()
    cluster.wait_quiet()

    result = decoded(cluster.rows("select result from assistants_toolcall where name = 'spawn_agents'")[0]["result"])
    assert [each["label"] for each in result["reports"]] == ["Part 0", "Part 1", "Part 2"]
    assert all(each["success"] and each["reply"] for each in result["reports"])
    assert cluster.texts("assistant").count("leaf" * 4) == 3 and "ok" in cluster.texts("assistant")
    assert len(cluster.rows("select id from subchats_delegation")) == 4
    check(cluster, llm)


def test_f08_a_stop_reaches_every_level_after_a_crash(cluster, llm):
    llm.when(system="You are lead").script_forever(delegation("middle", "part"))
    llm.when(system="You are middle").script_forever(delegation("leaf", "detail"))
    llm.when(system="You are leaf").script_forever([say("a"), never()])
    cluster.client.open("hi", key="k8")
    wait_for(lambda: len(cluster.turns()) == 3 and len(llm.requests) == 3, 15, "three levels at work")
    cluster.kill9()
    cluster.start()

    answer = cluster.client.post(f"/turn/{cluster.turns()[0]['id']}/stop/")

    assert answer is not None and answer.status_code == 204
    wait_for(lambda: [turn["state"] for turn in cluster.turns()] == ["stopped"] * 3, 5, "all three are stopped")
    check(cluster, llm)


@pytest.mark.parametrize("point", ["llm.requested", "llm.first_delta"])
def test_p3_killed_around_the_first_token_the_turn_ends_right(cluster, llm, point):
    llm.script_forever(ANSWER)
    cluster.arm(point)
    cluster.client.open("hi", key="k9")
    cluster.wait_reached()
    cluster.carry_on()
    cluster.wait_quiet()

    assert cluster.texts("assistant") == ["ok"]
    check(cluster, llm)


def test_f10_power_cuts_at_any_moment_lose_and_double_nothing(cluster, llm):
    llm.when(results=0).script_forever([say("a ", 10, 0.02), call("charge", "{}"), finish("tool_calls")])
    llm.when(results=1).script_forever([say("b ", 20, 0.02), finish("stop")])
    for number, pause in enumerate((0, 0.05, 0.25, 0.7)):
        with ThreadPoolExecutor(1) as pool:
            pending = pool.submit(cluster.client.open, f"m{number}", f"k{number}")
            time.sleep(pause)
            cluster.kill9()
            cluster.start()
            pending.result()
            cluster.client.retry_unknown()
    wait_for(lambda: not [turn for turn in cluster.turns() if turn["state"] in BUSY], 30, "every turn ends or asks")
    decide_all(cluster)
    cluster.wait_quiet()

    assert sorted(cluster.texts("user")) == [f"m{number}" for number in range(4)]
    assert cluster.effects("charge") <= 4
    check(cluster, llm)


def decide_all(cluster):
    """A person says of every call that was cut off that it has happened."""
    for row in cluster.rows("select id from assistants_toolcall where needs_decision"):
        cluster.client.post(f"/call/{UUID(str(row['id']))}/decide/", happened="1")
