"""Measures a fan-out against the slowest of its children: `python -m bench.fanout [--rounds N] [--model MS,MS]`."""

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.marks import Heard, median
from bench.ours import Ours
from bench.processes import FLOOR_PYTHON, Server, busy_seconds
from bench.streams import start_upstream

ANSWER_SECONDS = 60.0
CHILDREN = 4
CALLS = ("invoke_assistant", "spawn_agents")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fanout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", default="200,50", help="what one model call takes, in ms")
    given = parser.parse_args()
    for floor in given.model.split(","):
        rows = {children: measured(floor, children, given.rounds) for children in (1, CHILDREN)}
        alone = rows[1]["wall"]
        for row in rows.values():
            row["to_alone"] = row["wall"] / alone
            print(json.dumps({name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}))
    return 0


def measured(floor: str, children: int, rounds: int) -> dict[str, Any]:
    """The medians of so many fan-outs with so many children, on a fresh application that was warmed up by one more."""
    with tempfile.TemporaryDirectory(prefix="taskmonkey-bench-") as name:
        folder = Path(name)
        upstream = start_upstream(folder, FLOOR_PYTHON)
        try:
            side = Ours(upstream.port, folder, people=1, chats=rounds + 1, model=f"fanout-{floor}-{children}")
            try:
                side.server.wait()
                rows = asyncio.run(_rounds(side, upstream, rounds))
            finally:
                side.server.stop()
                print((folder / "app.log").read_text()[-3000:], file=sys.stderr)
        finally:
            upstream.stop()
    return {"model_ms": float(floor), "children": children} | {name: median(row[name] for row in rows) for name in rows[0]}


async def _rounds(side: Ours, upstream: Server, rounds: int) -> list[dict[str, float]]:
    rows = []
    for _ in range(rounds + 1):
        session, heard = await side.open(0), Heard(expected=0)
        busy = busy_seconds()
        async with asyncio.timeout(ANSWER_SECONDS):
            await side.ask(session, heard, "Look at all parts.")
        busy = busy_seconds() - busy
        session.close()
        log = json.loads((await side_log(upstream)).decode())
        whole = {"path": path_of(log, heard.sent), "busy_cores": busy / ((heard.ended - heard.sent) / 1e6)}
        rows.append(figures(log, record(side.folder)) | whole)
        await asyncio.sleep(0.5)
    return rows[1:]


def figures(log: list[dict[str, Any]], recorded: dict[str, float]) -> dict[str, float]:
    """One fan-out in milliseconds. `wall` is from the model's order to the model being asked again with the reports;
    `slowest` is the longest child from its opening to its end; `ratio` is the one over the other. `started` is how far
    apart the first and the last child asked, `wake` what lies between the last child's last word and the next request."""
    by_rule: dict[str, list[dict[str, Any]]] = {}
    for entry in log:
        by_rule.setdefault(entry["rule"], []).append(entry)
    ordered, again, work = by_rule["hand out"][-1]["ended"], by_rule["sum up"][0]["received"], by_rule["worker"]
    wall = (again - ordered) / 1000
    asked = [entry["received"] for entry in work]
    return {
        "wall": wall,
        "slowest": recorded["slowest"],
        "ratio": wall / recorded["slowest"],
        "call": recorded["call"],
        "model": max(entry["ended"] - entry["received"] for entry in work) / 1000,
        "opened": (min(asked) - ordered) / 1000,
        "started": (max(asked) - min(asked)) / 1000,
        "wake": (again - max(entry["ended"] for entry in work)) / 1000,
    }


def path_of(log: list[dict[str, Any]], sent: int) -> float:
    """From the person's sending to the model's last word, over the model calls that wait for each other: the lead's, and
    the longest one of its children."""
    lead = [entry for entry in log if entry["rule"] != "worker"]
    took = sum(entry["ended"] - entry["received"] for entry in lead)
    took += max(entry["ended"] - entry["received"] for entry in log if entry["rule"] == "worker")
    return float((max(entry["ended"] for entry in lead) - sent) / took)


def record(folder: Path) -> dict[str, float]:
    """What the database says of the newest fan-out, in milliseconds: its call, and the longest of its children's turns."""
    with closing(sqlite3.connect(folder / "home" / "taskmonkey.sqlite3", timeout=10)) as connection:
        call = connection.execute(
            "select id, started, settled from assistants_toolcall where name in (?, ?) order by started desc limit 1", CALLS
        ).fetchone()
        turns = connection.execute(
            "select t.created, t.finished from assistants_turn t join subchats_delegation d on d.child_id = t.thread_id"
            " where d.call_id = ?",
            call[:1],
        ).fetchall()
    return {"call": _ms(*call[1:]), "slowest": max(_ms(*each) for each in turns)}


def _ms(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() * 1000


async def side_log(upstream: Server) -> bytes:
    """Fetches and forgets what the model was asked."""
    reader, writer = await asyncio.open_connection("127.0.0.1", upstream.port)
    writer.write(b"GET /log HTTP/1.1\r\nhost: bench\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(next(line.split(b":")[1] for line in head.splitlines() if line.lower().startswith(b"content-length")))
    body = await reader.readexactly(length)
    writer.close()
    return body


if __name__ == "__main__":
    sys.exit(main())
