"""What must be true of the record after every fault (reliability 2.1)."""

import json
from collections import Counter

from tests.faults.cluster import Cluster


def check(cluster: Cluster) -> None:
    """Fails at the first invariant that does not hold: I2, I4, I5, I8, I9 of one quiet database."""
    keys = Counter(
        (row["thread_id"], row["client_key"])
        for row in cluster.rows("select thread_id, client_key from assistants_message where client_key != ''")
    )
    assert all(count == 1 for count in keys.values()), f"I2: a message is doubled: {keys}"
    for thread in cluster.rows("select id, last_event from assistants_thread"):
        numbers = [
            row["number"]
            for row in cluster.rows("select number from assistants_turnevent where thread_id = ? order by number", thread["id"])
        ]
        assert numbers == list(range(1, thread["last_event"] + 1)), f"I4: holes in the events of thread {thread['id']}"
    states = [row["state"] for row in cluster.turns()]
    assert set(states) <= {"done", "failed", "stopped"}, f"I5: {states}"
    open_calls = cluster.rows("select name from assistants_toolcall where state = 'open'")
    assert not open_calls, f"I8: calls without a result: {[row['name'] for row in open_calls]}"
    results = Counter(row["call"] for row in cluster.rows(
        "select json_extract(parts, '$[0].call') as call from assistants_message where role = 'tool'"
    ))  # fmt: skip
    assert all(count == 1 for count in results.values()), "I8: a call has two results"
    for call in cluster.rows(
        "select c.name, c.arguments, count(d.id) as children, count(distinct d.position) as places from assistants_toolcall c"
        " join subchats_delegation d on d.call_id = c.id group by c.id"
    ):
        wanted = len(json.loads(call["arguments"])["tasks"]) if call["name"] == "spawn_agents" else 1
        assert call["children"] == call["places"] == wanted, f"I9: {call['name']} has {call['children']} children of {wanted}"
    undelivered = cluster.rows(
        "select d.id from subchats_delegation d join assistants_toolcall c on c.id = d.call_id"
        " where d.returned_at is null and c.outcome = 'ok'"
    )
    assert not undelivered, "I9: a call was settled without its child's report"
