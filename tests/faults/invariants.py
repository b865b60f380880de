"""What must be true of the record after every fault (reliability 2.1); fails at the first that is not."""

import json
from collections import Counter

from tests.faults.cluster import FINAL, Cluster, decoded
from tests.kit.stub_llm import KEY, StubLLM

CLASSES = {"look": None, "put": 1, "charge": 1}


def check(cluster: Cluster, llm: StubLLM) -> None:
    """I1 to I10 and I13 of a quiet site. I11 and I12 need a browser and other people: they stand with those tests."""
    cluster.client.retry_unknown()
    cluster.wait_quiet()
    _sends(cluster)
    _events(cluster)
    states = [row["state"] for row in cluster.turns()]
    assert set(states) <= set(FINAL), f"I5: {states}"
    assert all(turn["fence"] >= turn["attempt"] for turn in cluster.turns()), "I6: a claim without a number of its own"
    _effects(cluster)
    _calls(cluster, llm)
    _delegations(cluster)
    _spending(cluster, llm)
    assert KEY.encode() not in cluster.log.read_bytes(), "I13: a key stands in the log"
    assert not any(KEY in json.dumps(request.body) for request in llm.requests), "I13: a key was sent to the model"


def _sends(cluster: Cluster) -> None:
    """I1, I2, I3: what was accepted is stored once, also if nobody knew so at first."""
    stored = cluster.rows("select thread_id, client_key from assistants_message where client_key != ''")
    keys = Counter((row["thread_id"], row["client_key"]) for row in stored)
    assert all(count == 1 for count in keys.values()), f"I2: a message is doubled: {keys}"
    said = Counter(cluster.texts("user"))
    sent = Counter(cluster.client.acknowledged.values())
    assert not sent - said, f"I1: accepted, but not stored: {sent - said}"
    assert not cluster.client.unknown, f"I3: never told: {cluster.client.unknown}"
    keyed = Counter(row["client_key"] for row in stored)
    assert all(keyed[key] <= 1 for key in cluster.client.acknowledged), "I3: stored twice under one key"


def _events(cluster: Cluster) -> None:
    """I4: numbers without holes, and a replay from anywhere gives the rest, the same as before."""
    for thread in cluster.rows("select id, chat_id, last_event from assistants_thread"):
        found = cluster.rows("select number from assistants_turnevent where thread_id = ? order by number", thread["id"])
        numbers = [row["number"] for row in found]
        assert numbers == list(range(1, thread["last_event"] + 1)), f"I4: holes in the events of thread {thread['id']}"
    first = cluster.rows("select chat_id, last_event from assistants_thread order by id limit 1")
    for thread in first:
        middle = thread["last_event"] // 2
        whole, rest = (_replay(cluster, thread["chat_id"], after) for after in (0, middle))
        assert list(whole) == list(range(1, min(thread["last_event"], 500) + 1)), "I4: a replay leaves events out"
        assert {number: whole[number] for number in rest if number in whole} == rest, "I4: two replays differ"


def _replay(cluster: Cluster, chat: str, after: int) -> dict[int, object]:
    frames = [frame for frame in cluster.client.events(chat, after)["events"] if "n" in frame]
    return {frame["n"]: frame for frame in frames}


def _effects(cluster: Cluster) -> None:
    """I7: the outside world agrees with the tools' classes."""
    for (tool, call), count in Counter((line["tool"], line["call"]) for line in cluster.written()).items():
        most = CLASSES[tool]
        assert most is None or count <= most, f"I7: {tool} took effect {count} times for call {call}"


def _calls(cluster: Cluster, llm: StubLLM) -> None:
    """I8: every call has one result before the model is asked again."""
    open_calls = cluster.rows("select name from assistants_toolcall where state = 'open'")
    assert not open_calls, f"I8: calls without a result: {[row['name'] for row in open_calls]}"
    tools = cluster.rows("select parts from assistants_message where role = 'tool'")
    results = Counter(decoded(row["parts"])[0]["call"] for row in tools)
    assert all(count == 1 for count in results.values()), "I8: a call has two results"
    for request in llm.requests:
        asked = Counter(call["id"] for said in request.body.get("messages", ()) for call in said.get("tool_calls") or ())
        told = Counter(said["tool_call_id"] for said in request.body.get("messages", ()) if said.get("role") == "tool")
        assert asked == told, f"I8: the model was asked with unmatched calls: {asked} and {told}"


def _delegations(cluster: Cluster) -> None:
    """I9: one child for each task, one result to its caller, and nobody at work under a caller that has ended."""
    for call in cluster.rows(
        "select c.id, c.name, c.arguments, count(d.id) as children, count(distinct d.position) as places"
        " from assistants_toolcall c join subchats_delegation d on d.call_id = c.id group by c.id, c.name, c.arguments"
    ):
        wanted = len(decoded(call["arguments"])["tasks"]) if call["name"] == "spawn_agents" else 1
        assert call["children"] == call["places"] == wanted, f"I9: {call['name']} has {call['children']} children of {wanted}"
    undelivered = cluster.rows(
        "select d.id from subchats_delegation d join assistants_toolcall c on c.id = d.call_id"
        " where d.returned_at is null and c.outcome = 'ok'"
    )
    assert not undelivered, "I9: a call was settled without its child's report"


def _spending(cluster: Cluster, llm: StubLLM) -> None:
    """I10: every request to the model is on somebody's account, settled, and no tree is over its cap by more than one."""
    entries = cluster.rows("select root_id, tokens, settled from assistants_spendentry")
    assert len(entries) >= len(llm.requests), f"I10: {len(llm.requests)} requests, {len(entries)} on account"
    assert all(entry["settled"] for entry in entries), "I10: a model call was never settled"
    for turn in cluster.turns():
        spent = [entry["tokens"] for entry in entries if entry["root_id"] == turn["id"]]
        if spent and turn["token_cap"]:
            assert sum(spent) - max(spent) <= turn["token_cap"], f"I10: turn {turn['id']} spent {sum(spent)}"
