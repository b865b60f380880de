"""One kill, measured: conversations that delegate and use tools, one point or one random moment, and what stands afterwards."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from assistants.failpoints import POINTS
from tests.faults.cluster import Cluster, wait_for
from tests.faults.invariants import check
from tests.faults.tally import Tally
from tests.kit.stub_llm import StubLLM, call, finish, say

# So many that an hour of some thousand kills comes to the 10,000 sends of P1.
CHATS = 8
BUSY = ("thinking", "acting", "queued", "paused")
# Beside the points: everything at once, and the stores that a full site stands on.
MOMENTS = {"embedded": ["all"], "full": ["all", "redis", "postgres", "web", "worker"]}


def script(llm: StubLLM) -> None:
    """Each conversation writes, changes the world once, hands a task down, and answers."""
    task = '{"assistant": "middle", "task": "a part"}'
    llm.when(system="You are lead", results=0).script_forever([say("a ", 8, 0.02), call("charge", "{}"), finish("tool_calls")])
    llm.when(system="You are lead", results=1).script_forever([call("invoke_assistant", task), finish("tool_calls")])
    llm.when(system="You are lead", results=2).script_forever([say("b ", 8, 0.02), finish("stop")])
    llm.when(system="You are middle").script_forever([say("middle ", 4, 0.02), finish("stop")])


def run_at_point(cluster: Cluster, llm: StubLLM, tally: Tally, *, what: str, dice: random.Random) -> None:
    """kill -9 of the process that passes the point, at a pass by chance."""
    script(llm)
    cluster.arm(what, nth=dice.randint(1, CHATS if what != "llm.mid_stream" else 20))
    with ThreadPoolExecutor(CHATS) as pool:
        sent = [pool.submit(cluster.client.open, f"m{number}", f"k{number}") for number in range(CHATS)]
        cluster.wait_reached(30)
        before = moves(cluster)
        since = cluster.carry_on()
        for each in sent:
            each.result()
    if not what.startswith("send."):
        wait_for(lambda: moves(cluster) != before or cluster.quiet(), 30, "somebody carries on")
        tally.time("P4", f"{cluster.profile}, lease 2 s:", time.monotonic() - since)
    settle(cluster, llm, tally)
    tally.count("P3", f"kills at a point, {cluster.profile}")
    if what.startswith("llm."):
        tally.count("P6", "kills while a model was answering")


def run_at_moment(cluster: Cluster, llm: StubLLM, tally: Tally, *, what: str, dice: random.Random) -> None:
    """A process, a store or everything is killed at a random moment."""
    script(llm)
    with ThreadPoolExecutor(CHATS) as pool:
        sent = [pool.submit(cluster.client.send_or_open, f"m{number}", f"k{number}") for number in range(CHATS)]
        time.sleep(dice.uniform(0, 1.5))
        kill(cluster, what)
        cluster.start()
        for each in sent:
            each.result()
    settle(cluster, llm, tally)
    tally.count("P3", f"kills of {what} at a random moment, {cluster.profile}")


def kill(cluster: Cluster, what: str) -> None:
    if what == "postgres":
        cluster.data.server.crash()
        cluster.data.server.start()
    elif what == "redis":
        assert cluster.redis
        cluster.redis.end()
    elif what == "all":
        cluster.kill9()
    else:
        cluster.kill9(cluster.roles[what][0])


def moves(cluster: Cluster) -> int:
    """Grows whenever a turn is claimed or ends."""
    turns = cluster.turns()
    return sum(turn["fence"] for turn in turns) + 1000 * sum(turn["state"] in ("done", "waiting") for turn in turns)


def settle(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """People do what is asked of them; then everything must be as if nothing had happened."""
    cluster.client.retry_unknown()
    wait_for(lambda: not any(turn["state"] in BUSY for turn in cluster.turns()), 60, "every turn ends or asks")
    decided = 0
    while waiting := cluster.rows("select id from assistants_toolcall where needs_decision and state = 'open'"):
        for row in waiting:
            cluster.client.post(f"/call/{UUID(str(row['id']))}/decide/", happened="1")
            decided += 1
        wait_for(lambda: not any(turn["state"] in BUSY for turn in cluster.turns()), 60, "every turn ends or asks")
    cluster.wait_quiet(60)
    check(cluster, llm)
    states = [turn["state"] for turn in cluster.turns()]
    assert set(states) == {"done"}, f"a turn ended otherwise: {states}"
    replies = cluster.texts("assistant")
    assert replies.count("b " * 8) == CHATS, f"answers: {replies}"
    tally.count("P1", "sends accepted and found", CHATS)
    tally.count("P7", "effects of `once` tools, none twice", cluster.effects("charge"))
    tally.count("P7", "calls whose outcome was unknown and was asked for", decided)
    tally.count("P8", "delegations, each with one child and one report", CHATS)
    tally.count("P15", "trees within their cap", CHATS)


def schedule(profile: str, dice: random.Random) -> list[tuple[str, str]]:
    """All points and moments once, in an order by chance."""
    runs = [("point", point) for point in POINTS] + [("moment", moment) for moment in MOMENTS[profile]]
    dice.shuffle(runs)
    return runs
