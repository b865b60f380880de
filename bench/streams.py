"""Measures streamed answers: the application and those beside it in turn with the same load, round after round."""

import asyncio
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.beside import OURS, start
from bench.marks import Heard, summary
from bench.processes import Meter, Server, busy_seconds, rss_bytes
from bench.sides import Session, Side, ask_in_time
from bench.upstream import Order

ANSWER_SECONDS = 90.0
# Between two streams' ticks, in parts of the interval: the golden ratio spreads any number of them evenly.
PHASE = 0.618034
OPENED_AT_ONCE = 10


@dataclass(frozen=True)
class Load:
    """`streams` people at once, each `turns` times: `n` deltas, one every `delay` ms; they start within `ramp` seconds."""

    streams: int
    n: int
    delay: float
    turns: int = 1
    ramp: float = 0.0
    shape: str = "plain"

    def order(self) -> Order:
        """What each of them asks for."""
        return Order(n=self.n, delay=self.delay, first=50, shape=self.shape)


LOADS = (
    Load(1, n=300, delay=10, turns=3),
    Load(20, n=200, delay=20, ramp=0.4),
    Load(100, n=200, delay=20, ramp=1.0),
)
WARM_UP = Load(2, n=50, delay=1, turns=2)


@dataclass(frozen=True)
class Plan:
    """What to measure: the loads, how many rounds of them, and how many idle sockets to weigh."""

    loads: tuple[Load, ...] = LOADS
    rounds: int = 3
    idle: int = 200
    beside: tuple[str, ...] = ("relay",)
    settle: float = 0.5

    @property
    def people(self) -> int:
        return max(self.idle, *(load.streams for load in (*self.loads, WARM_UP)))

    @property
    def chats(self) -> int:
        """Conversations that one person can need: a fresh one for each load, the warm-up and the idle page."""
        return self.rounds * len(self.loads) + 2


async def measure(upstream: Server, folder: Path, plan: Plan) -> dict[str, Any]:
    """Runs the whole plan; gives {"rounds": [one row per round, load and side], "idle": [one row per side]}."""
    sides: list[Side] = []
    try:
        for name in (*plan.beside, OURS):
            sides.append(start(name, upstream.port, folder, people=plan.people, chats=plan.chats))
            sides[-1].server.wait()
        for side in sides:
            await run(side, WARM_UP, upstream, settle=plan.settle)
        rows = [
            {"round": number, "side": side.name, "streams": load.streams} | await run(side, load, upstream, settle=plan.settle)
            for number in range(plan.rounds)
            for load in plan.loads
            for side in (sides if number % 2 == 0 else sides[::-1])
        ]
        return {"rounds": rows, "idle": [await weigh(side, plan.idle) for side in sides if plan.idle]}
    finally:
        for side in sides:
            side.server.stop()


async def run(side: Side, load: Load, upstream: Server, *, settle: float) -> dict[str, Any]:
    """One load on one side: its figures, with CPU seconds per 1,000 deltas and bytes of memory at the peak."""
    sessions = await open_pages(side, load.streams)
    await asyncio.sleep(settle)
    pids = side.server.processes()
    ours, theirs, own, busy = Meter(pids), Meter(upstream.processes()), own_seconds(), busy_seconds()
    peak = Peak(pids)
    answers: list[Heard] = []
    await asyncio.gather(*(person(side, session, load, number, answers) for number, session in enumerate(sessions)))
    spent, above, busy = ours.read(), theirs.read().seconds, busy_seconds() - busy
    driven = own_seconds() - own
    for session in sessions:
        session.close()
    told = summary(answers)
    return {
        **told,
        "cpu_per_1000": 1000 * spent.seconds / max(told["deltas"], 1),
        "cores": spent.seconds / spent.wall,
        "rss_peak": peak.stop(),
        "driver_cores": driven / spent.wall,
        "upstream_cores": above / spent.wall,
        "other_cores": max(0.0, busy - spent.seconds - above - driven) / spent.wall,
    }


async def person(side: Side, session: Session, load: Load, number: int, answers: list[Heard]) -> None:
    """One person, who starts in their own phase and asks again when the answer is over."""
    if load.ramp:
        await asyncio.sleep(load.ramp * number / load.streams + (number * PHASE % 1) * load.delay / 1000)
    for _ in range(load.turns):
        answers.append(Heard(expected=load.n))
        await ask_in_time(side, session, answers[-1], load.order().text(), seconds=ANSWER_SECONDS)


async def open_pages(side: Side, count: int) -> list[Session]:
    """Opens the pages of the first `count` people, a few at a time."""
    sessions: list[Session] = []
    for first in range(0, count, OPENED_AT_ONCE):
        some = range(first, min(first + OPENED_AT_ONCE, count))
        sessions += await asyncio.gather(*(side.open(number) for number in some))
    return sessions


async def weigh(side: Side, sockets: int) -> dict[str, Any]:
    """What an idle page's socket costs: bytes of memory, and the CPU of all of them together in parts of a core."""
    pids = side.server.processes()
    await asyncio.sleep(1)
    before = rss_bytes(pids)
    sessions = await open_pages(side, sockets)
    await asyncio.sleep(1)
    after, meter = rss_bytes(pids), Meter(pids)
    await asyncio.sleep(5)
    spent = meter.read()
    for session in sessions:
        session.close()
    cost = (after - before) / sockets
    return {"side": side.name, "sockets": sockets, "bytes": cost, "cores": spent.seconds / spent.wall, "rss": after}


class Peak:
    """The most memory that some processes held, looked at four times a second."""

    def __init__(self, pids: list[int]) -> None:
        self._pids, self._most = pids, rss_bytes(pids)
        self._watch = asyncio.create_task(self._look())

    def stop(self) -> int:
        """Ends the watch and gives the peak in bytes."""
        self._watch.cancel()
        return max(self._most, rss_bytes(self._pids))

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(0.25)
            self._most = max(self._most, rss_bytes(self._pids))


def own_seconds() -> float:
    """CPU seconds of this process so far: a driver that is busy all the time would measure itself."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def start_upstream(folder: Path, python: str) -> Server:
    """Starts the fake model server."""
    from bench.processes import free_port

    port = free_port()
    server = Server([python, "-m", "bench.upstream", str(port)], port=port, log=folder / "upstream.log")
    server.wait()
    return server


def stamp() -> str:
    """The present time as it names a run."""
    return time.strftime("%Y%m%d-%H%M%S")
