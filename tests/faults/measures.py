"""What is measured beside the kills, one function for each promise; what `make faults` writes down comes from here."""

import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assistants.rendering import code
from assistants.rendering.markdown import render_markdown
from tests.faults.cluster import PROFILES, SHIPPED, Cluster, wait_for
from tests.faults.invariants import check
from tests.faults.tally import Tally
from tests.kit.stub_llm import StubLLM, call, finish, never, say

ROOT = Path(__file__).resolve().parents[2]
Measure = Callable[[Cluster, StubLLM, Tally], None]
ANSWER = [say("ok"), finish("stop")]
MISSED = 10_000
# Bytes that a reader who hangs may cost. With nothing else at work it is some 54 MB: the text itself, as rows, as HTML and on
# its way, some times over.
SLOW_READER = 96 * 1024 * 1024


def measure_renderer(tally: Tally) -> None:
    """P13: Markdown as people write it, with a mark on every other word, and a megabyte of what is worst for the parser that we
    know of."""
    dense = "## Heading\n\nSome *usual* text with `code`, a [link](https://example.org) and words.\n\n- one\n- two\n\n"
    texts = {
        "100 KB with a mark on every other word": dense * (100_000 // len(dense)),
        "100 KB of this project's pages": _own_pages()[:100_000],
        "1 MB of `![`": "![" * 500_000,
    }
    for what, text in texts.items():
        for _ in range(5):
            code._highlight_again.cache_clear()
            started = time.thread_time()
            render_markdown(text)
            tally.time("P13", f"{what}, of CPU:", time.thread_time() - started)


def _own_pages() -> str:
    pages = [ROOT / "README.md", ROOT / "bench" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return "\n\n".join(page.read_text() for page in pages)


def measure_resends(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P2: fifty resends of one key, all at once."""
    llm.script_forever(ANSWER)
    with ThreadPoolExecutor(50) as pool:
        chats = set(pool.map(lambda _: cluster.client.open("hi", "one"), range(50)))
    cluster.wait_quiet()
    assert len(chats) == 1 and cluster.texts("user") == ["hi"] and len(cluster.turns()) == len(llm.requests) == 1
    tally.count("P2", f"rounds of 50 parallel resends, {cluster.profile}")


def measure_take_over(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P4: the times as shipped; one worker dies with ten turns between the two of them."""
    llm.script_forever([say("word ", 600, 0.05), finish("stop")])
    for number in range(10):
        cluster.client.open(f"m{number}", f"k{number}")
    wait_for(lambda: len(llm.requests) == 10, 30, "all turns run")
    victim = f":{cluster.children['worker1'].pid}-"
    lost = [turn["id"] for turn in cluster.turns() if victim in str(turn["holder"])]
    cluster.kill9("worker1")
    died, seen = time.monotonic(), set()
    while len(seen) < len(lost) and time.monotonic() - died < 40:
        for turn in cluster.turns():
            if turn["id"] in lost and turn["id"] not in seen and turn["attempt"] == 2:
                seen.add(turn["id"])
                tally.time("P4", "full, as shipped:", time.monotonic() - died)
        time.sleep(0.05)
    for turn in cluster.turns():
        cluster.client.post(f"/turn/{turn['id']}/stop/")
    assert len(seen) == len(lost), f"{len(lost) - len(seen)} turns of a dead worker were not taken over in 40 s"


def measure_restart(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P4: the times as shipped; the one server dies with five turns, and goes on with them when it is back."""
    llm.script_forever([say("word ", 200, 0.05), finish("stop")])
    for number in range(5):
        cluster.client.open(f"m{number}", f"k{number}")
    wait_for(lambda: len(llm.requests) == 5, 30, "all turns run")
    cluster.kill9()
    since = time.monotonic()
    cluster.start()
    wait_for(lambda: all(turn["attempt"] == 2 for turn in cluster.turns()), 30, "all turns are taken over")
    tally.time("P4", "embedded, as shipped, from the start of the process to all of five turns:", time.monotonic() - since)
    for turn in cluster.turns():
        cluster.client.post(f"/turn/{turn['id']}/stop/")


def measure_missed_events(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P5: a page that missed ten thousand events comes back."""
    llm.script_forever(ANSWER)
    chat = cluster.client.open("hi", "k")
    cluster.wait_quiet()
    thread = cluster.rows("select id, last_event from assistants_thread")[0]
    copied = (
        "insert into assistants_turnevent (thread_id, number, kind, payload, created)"
        " select thread_id, ?, kind, payload, created from assistants_turnevent where thread_id = ? and number = ?"
    )
    for number in range(thread["last_event"] + 1, MISSED + 1):
        cluster.data.change(copied, number, thread["id"], 1 + number % thread["last_event"])
    cluster.data.change("update assistants_thread set last_event = ?", MISSED)
    started = time.monotonic()
    page = cluster.client.follow(chat, 0)
    while page.cursor < MISSED and time.monotonic() - started < 60:
        page.read(1)
    tally.time("P5", f"{MISSED:,} missed events, {cluster.profile}:", time.monotonic() - started)
    assert page.numbers == list(range(1, MISSED + 1)), "holes or doubles in the replay"
    page.drop()


def measure_flapping(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P5: a socket that is dropped again and again while text grows."""
    llm.script_forever([say("word ", 60, 0.05), finish("stop")])
    chat = cluster.client.open("hi", "k")
    seen: list[int] = []
    for _ in range(20):
        started = time.monotonic()
        page = cluster.client.follow(chat, seen[-1] if seen else 0)
        if page.read(5):
            tally.time("P5", f"from connecting to the first frame, {cluster.profile}:", time.monotonic() - started)
        list(page.read_for(0.1))
        page.drop()
        seen += page.numbers
    assert seen == list(range(1, len(seen) + 1)), f"holes or doubles: {seen}"


def measure_stop(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P8: a stop at the top, two levels above the one at work."""
    for above, below in (("lead", "middle"), ("middle", "leaf")):
        task = f'{{"assistant": "{below}", "task": "a part"}}'
        llm.when(system=f"You are {above}").script_forever([call("invoke_assistant", task), finish("tool_calls")])
    llm.when(system="You are leaf").script_forever([say("a"), never()])
    cluster.client.open("hi", "k")
    wait_for(lambda: len(llm.requests) == 3, 20, "three levels are at work")
    started = time.monotonic()
    cluster.client.post(f"/turn/{cluster.turns()[0]['id']}/stop/")
    wait_for(lambda: {turn["state"] for turn in cluster.turns()} == {"stopped"}, 20, "all are stopped")
    wait_for(lambda: llm.requests[-1].disconnected_at, 20, "the model call is ended")
    tally.time("P8", f"stop of three levels, {cluster.profile}:", time.monotonic() - started)


def measure_slow_reader(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P9: a reader who takes nothing in is sent 8 MB, while others read on."""
    llm.script_forever(ANSWER)
    chat = cluster.client.open("m0", "k0")
    assert chat
    for number in range(1, 25):
        cluster.wait_quiet(count=number)
        cluster.client.send(chat, f"m{number}", f"k{number}")
    cluster.wait_quiet(count=25)
    # More than the kernel holds for a connection, and the server may hold.
    long = json.dumps([{"type": "text", "text": "many words " * 30_000}])
    cluster.data.change("update assistants_message set parts = ? where role = 'user' and sequence > 2", long)
    last = cluster.last_event()
    # Drawn once before, so that only what a reader who hangs costs is counted.
    whole = cluster.client.follow(chat, 0)
    wait_for(lambda: list(whole.read_for(0.2)) is not None and whole.cursor == last, 20, "all is drawn")
    brisk = cluster.client.follow(chat, last)
    before, let_go = cluster.rss("web"), cluster.log.read_text().count("4408")

    slow = cluster.client.follow(chat, 0, sock=_narrow(cluster), max_queue=1)
    llm.script_forever([say("word ", 30, 0.1), finish("stop")])
    time.sleep(2)
    sent = time.monotonic()
    cluster.client.send(chat, "while one is stuck", "k-more")
    assert brisk.sees("while one is stuck", within=60)
    tally.time("P9", f"to the page of somebody else meanwhile, {cluster.profile}:", time.monotonic() - sent)
    cluster.wait_quiet(30, count=26)
    grown = cluster.rss("web") - before
    wait_for(lambda: cluster.log.read_text().count("4408") > let_go, 30, "the slow one is let go")
    assert grown < SLOW_READER, f"{grown:,} bytes"
    tally.size("P9", f"that it cost, {cluster.profile}:", grown)

    again, final = cluster.client.follow(chat, last), cluster.last_event()
    wait_for(lambda: list(again.read_for(0.1)) is not None and again.cursor == final, 10, "who comes back catches up")
    assert again.numbers == list(range(last + 1, final + 1))
    for page in (whole, slow, brisk, again):
        page.drop()
    cluster.client.acknowledged.clear()
    check(cluster, llm)
    tally.count("P9", f"readers who read nothing, let go and caught up, {cluster.profile}")


def _narrow(cluster: Cluster) -> socket.socket:
    """A connection of a reader who takes in little at a time."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(cluster.listener.getsockname())
    return line


def measure_lost_right(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P11: an account is switched off while its page is open and its turn runs."""
    llm.script_forever([say("word ", 400, 0.05), finish("stop")])
    chat = cluster.client.open("hi", "k")
    page = cluster.client.follow(chat, 0)
    page.read(5)
    started = time.monotonic()
    cluster.data.change("update assistants_user set is_active = ? where username = 'alice'", False)
    try:
        list(page.read_for(20))
        tally.time("P11", f"to the end of the socket, {cluster.profile}:", time.monotonic() - started)
        assert page.closed in (4401, 4404), page.closed
        cluster.wait_quiet(20)
        tally.time("P11", f"to the end of the running turn, {cluster.profile}:", time.monotonic() - started)
    finally:
        cluster.data.change("update assistants_user set is_active = ? where username = 'alice'", True)


def measure_clocks(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P12: one worker's clock is ten minutes or an hour wrong, and turns run longer than a lease."""
    llm.script_forever([say("word ", 70, 0.05), finish("stop")])
    for shift in (600, -3600):
        cluster.shift_clock(shift, "worker1")
        before = len(cluster.turns())
        for number in range(4):
            cluster.client.open(f"{shift} {number}", f"{shift} {number}")
        cluster.wait_quiet(40, count=before + 4)
    turns = cluster.turns()
    assert all(turn["attempt"] == turn["fence"] == 1 and turn["state"] == "done" for turn in turns), "taken over early"
    tally.count("P12", "turns longer than a lease under wrong clocks, none taken over", len(turns))


def measure_redis(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P10: Redis hangs, is killed, and comes back."""
    assert cluster.redis
    llm.script_forever(ANSWER)
    chat = cluster.client.open("hi", "k")
    cluster.wait_quiet()
    page = cluster.client.follow(chat, 0)
    list(page.read_for(0.5))
    cluster.redis.stop()
    started = time.monotonic()
    cluster.client.send(chat, "while it hangs", "k1")
    tally.time("P10", "a send while Redis hangs:", time.monotonic() - started)
    assert page.sees("while it hangs", 10), "not shown within 10 s"
    tally.time("P10", "to the page while Redis hangs:", time.monotonic() - started)
    cluster.redis.cont()
    cluster.redis.end()
    cluster.wait_quiet(30, count=2)
    cluster.redis.start()
    since = time.monotonic()
    wait_for(lambda: cluster.redis.client().pubsub_numsub("taskmonkey:turns")[0][1] >= 4, 30, "all processes listen again")
    tally.time("P10", "until all processes listen again:", time.monotonic() - since)
    tally.count("P10", "sends while Redis was away, none lost")
    page.drop()


def measure_rolling_restart(cluster: Cluster, llm: StubLLM, tally: Tally) -> None:
    """P14: every process is told to end and started again while twenty turns run."""
    llm.when(results=0).script_forever([say("a ", 30, 0.1), call("put", "{}"), finish("tool_calls")])
    llm.when(results=1).script_forever([say("b ", 10, 0.1), finish("stop")])
    for number in range(20):
        cluster.client.open(f"m{number}", f"k{number}")
    for name in cluster.names:
        started = time.monotonic()
        cluster.term(name)
        cluster.wait_gone(name, within=25)
        tally.time("P14", f"from SIGTERM to the end of a process, {cluster.profile}:", time.monotonic() - started)
        cluster.start(name)
    cluster.wait_quiet(90, count=20)
    assert {turn["state"] for turn in cluster.turns()} == {"done"} and cluster.effects("put") == 20
    tally.count("P14", f"turns during a rolling restart, {cluster.profile}", 20)


BOTH: list[Measure] = [
    measure_resends, measure_missed_events, measure_flapping, measure_stop, measure_lost_right, measure_rolling_restart,
]  # fmt: skip
OWN: dict[str, list[Measure]] = {
    "embedded": [measure_slow_reader, measure_restart],
    "full": [measure_take_over, measure_clocks, measure_redis],
}
OPTIONS: dict[str, dict[str, dict[str, str]]] = {"measure_take_over": {"times": SHIPPED}, "measure_restart": {"times": SHIPPED}}


def of(profile: str, only: str = "") -> list[Measure]:
    """The measures of one profile, in order; of one promise where it is named."""
    return [measure for measure in [*BOTH, *OWN[profile]] if only in ("", promise_of(measure))]


def promise_of(measure: Measure) -> str:
    """The id that its docstring begins with."""
    return (measure.__doc__ or "").split(":")[0]


def promises() -> list[str]:
    """The promises that are measured without kills."""
    return sorted({promise_of(measure) for profile in PROFILES for measure in of(profile)})
