"""Measures what many who only wait cost those who are answered: idle pages, and turns that wait: `python -m bench.crowd`."""

import argparse
import asyncio
import json
import resource
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.ours import Ours
from bench.processes import FLOOR_PYTHON, Meter, Server, rss_bytes, threads
from bench.streams import OPENED_AT_ONCE, Load, open_pages, run, start_upstream

KINDS = ("child", "approval", "pause")
SETTLE_SECONDS, REST_SECONDS = 60.0, 5.0
FIGURES = ("complete", "answers", "first_p50", "added_p50", "added_p99", "overrun", "cores", "other_cores")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.crowd")
    parser.add_argument("--idle", type=int, default=1000, help="pages that are open without anything going on")
    parser.add_argument("--streams", default="20,200", help="answers at once; the last is compared with the first")
    parser.add_argument("--n", type=int, default=100, help="deltas of an answer")
    parser.add_argument("--delay", type=float, default=200, help="ms between two of them")
    parser.add_argument("--arrivals", type=float, default=10, help="people who write, per second")
    parser.add_argument("--waiting", type=int, default=500, help="turns that wait: a third each for a sub-chat's question,"
                        " for an approval and for a busy provider")  # fmt: skip
    parser.add_argument("--team", action="store_true", help="PostgreSQL, Redis, two web processes and two workers")
    given = parser.parse_args()
    streams = [int(each) for each in given.streams.split(",")]
    loads = [Load(each, given.n, given.delay, ramp=each / given.arrivals) for each in streams]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="taskmonkey-bench-") as name:
        folder = Path(name)
        # A private PostgreSQL runs under another account and must get to its data.
        folder.chmod(0o711)
        upstream = start_upstream(folder, FLOOR_PYTHON)
        try:
            people = max(given.idle, given.waiting, *streams, 2)
            side = Ours(
                upstream.port,
                folder,
                people=people,
                chats=len(streams) + 4,
                model="crowd",
                how="team" if given.team else "process",
            )
            try:
                side.server.wait()
                asyncio.run(measure(side, upstream, given, loads))
            finally:
                side.server.stop()
                print((folder / "app.log").read_text()[-3000:], file=sys.stderr)
        finally:
            upstream.stop()
    return 0


async def measure(side: Ours, upstream: Server, given: argparse.Namespace, loads: list[Load]) -> None:
    """Prints one row for each state: at rest, idle pages, each load beside them, waiting turns, a load beside those."""
    await run(side, Load(2, n=20, delay=10), upstream, settle=1)
    tell("at rest", await rest(side))
    pages = await open_pages(side, given.idle)
    tell(f"{given.idle} idle pages", await rest(side))
    rows = []
    for load in loads:
        rows.append(await run(side, load, upstream, settle=1))
        tell(f"{load.streams} streams beside them", {name: rows[-1][name] for name in FIGURES})
    tell("the last to the first", {"added_p99": rows[-1]["added_p99"] / rows[0]["added_p99"]})
    for page in pages:
        page.close()
    if not given.waiting:
        return
    tell("no pages", await rest(side))
    for first in range(0, given.waiting, OPENED_AT_ONCE):
        some = range(first, min(first + OPENED_AT_ONCE, given.waiting))
        await asyncio.gather(*(side.leave(each, f"bench waits={KINDS[each % len(KINDS)]}") for each in some))
    states = await settled(side.folder, given.waiting) if not given.team else {}
    tell(f"{given.waiting} waiting turns", await rest(side) | states)
    row = await run(side, loads[0], upstream, settle=1)
    tell(f"{loads[0].streams} streams beside those", {name: row[name] for name in FIGURES})


async def rest(side: Ours) -> dict[str, float]:
    """Threads, megabytes and cores of a server to which nobody says anything."""
    await asyncio.sleep(2)
    pids = side.server.processes()
    meter = Meter(pids)
    await asyncio.sleep(REST_SECONDS)
    spent = meter.read()
    return {"threads": threads(pids), "megabytes": rss_bytes(pids) / 1e6, "cores": spent.seconds / spent.wall}


async def settled(folder: Path, wanted: int) -> dict[str, int]:
    """Waits until so many turns wait, and counts all turns by their state; after a minute as they are."""
    give_up = time.monotonic() + SETTLE_SECONDS
    while True:
        with closing(sqlite3.connect(folder / "home" / "taskmonkey.sqlite3", timeout=10)) as connection:
            found = dict(connection.execute("select state, count(*) from assistants_turn group by state").fetchall())
        if found.get("waiting", 0) + found.get("paused", 0) + found.get("acting", 0) >= wanted or time.monotonic() > give_up:
            return found
        await asyncio.sleep(1)


def tell(state: str, figures: dict[str, Any]) -> None:
    print(
        json.dumps({"state": state} | {k: round(v, 3) if isinstance(v, float) else v for k, v in figures.items()}), flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
