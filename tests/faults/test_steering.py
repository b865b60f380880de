"""The server is killed with -9 while a person's message waits for a running turn: it is read once, by that turn."""

from tests.faults.cluster import wait_for
from tests.faults.invariants import check
from tests.kit.stub_llm import call, finish, say

ANSWER = [say("ok"), finish("stop")]


def last_said(llm):
    """What the model was told last, and how often it stands in that request."""
    said = [message["content"] for message in llm.requests[-1].body["messages"] if message["role"] == "user"]
    return said[-1], said.count(said[-1])


def test_killed_while_a_message_waits_for_the_next_step_it_is_read_there_once(cluster, llm):
    llm.script([say("a ", 30, 0.05), call("put", "{}"), finish("tool_calls")])
    llm.when(results=1).script_forever(ANSWER)
    llm.when(user="mind the gap").script_forever(ANSWER)
    cluster.arm("tool.intent_committed")
    chat = cluster.client.open("hi", key="s1")
    wait_for(lambda: llm.requests, 10, "the model is asked")

    answer = cluster.client.post(f"/c/{chat}/send/", text="mind the gap", key="s2", how="steer")
    assert answer is not None and answer.status_code == 204
    cluster.wait_reached()
    cluster.carry_on()
    cluster.wait_quiet()
    cluster.client.post(f"/c/{chat}/send/", text="mind the gap", key="s2", how="steer")

    assert cluster.texts("user") == ["hi", "mind the gap"] and last_said(llm) == ("mind the gap", 1)
    assert len(cluster.turns()) == 1 and cluster.texts("assistant")[-1] == "ok" and cluster.effects("put") == 1
    check(cluster, llm)


def test_killed_before_the_interrupt_was_carried_out_the_message_interrupts_after_all(cluster, llm):
    llm.when(user="rather this").script_forever(ANSWER)
    llm.script_forever([say("a ", 400, 0.05), finish("stop")])
    cluster.arm("send.committed", nth=2)
    chat = cluster.client.open("hi", key="s3")
    wait_for(lambda: "a" in "".join(cluster.texts("assistant")), 10, "a part of the reply is saved")

    assert cluster.client.post(f"/c/{chat}/send/", text="rather this", key="s4", how="interrupt") is None
    cluster.wait_reached()
    cluster.carry_on()
    cluster.wait_quiet(15)

    assert cluster.texts("user") == ["hi", "rather this"] and last_said(llm) == ("rather this", 1)
    assert len(cluster.turns()) == 1 and cluster.turns()[0]["state"] == "done" and cluster.texts("assistant")[-1] == "ok"
    check(cluster, llm)
