"""Measures how long a server takes from its process's start to its first chat page: `python -m bench.start`."""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.beside import BESIDE, OURS, installed, start
from bench.marks import median
from bench.ours import Ours
from bench.processes import FLOOR_PYTHON, busy_seconds, cpu_seconds
from bench.sides import Side
from bench.streams import start_upstream


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.start")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--how", choices=["process", "supervised"], default="process", help="`make run` starts a supervisor first"
    )
    parser.add_argument("--beside", nargs="*", choices=list(BESIDE), default=["channels", "chainlit"])
    given = parser.parse_args()
    rows: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="taskmonkey-bench-") as name, ExitStack() as ends:
        upstream = start_upstream(Path(name), FLOOR_PYTHON)
        ends.callback(upstream.stop)
        sides = []
        for each in (*installed(given.beside), OURS):
            sides.append(start(each, upstream.port, Path(name), people=1, chats=1, how=given.how))
            ends.callback(sides[-1].server.stop)
            # The first start fills the caches of files and compiled modules, and does not count.
            sides[-1].server.wait()
        pages = {side.name: page(side) for side in sides}
        for number in range(given.rounds):
            for side in sides if number % 2 else sides[::-1]:
                for other in sides:
                    other.server.stop()
                rows.setdefault(side.name, []).append(started(side, *pages[side.name]))
    for each, found in rows.items():
        row = {"side": each} | {name: median(row[name] for row in found) for name in found[0]}
        row["most"] = max(row["seconds"] for row in found)
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}))
    return 0


def page(side: Side) -> tuple[str, str]:
    """The path of a side's chat page, and the cookies of somebody who may see it."""
    if isinstance(side, Ours):
        return side.chat(0), f"sessionid={side.browser(0).cookies['sessionid']}"
    return "/", ""


def started(side: Side, path: str, cookies: str) -> dict[str, float]:
    """One start: seconds until the page's first 200, CPU seconds of it, and what others used meanwhile, in cores."""
    busy = busy_seconds()
    side.server.start()
    seconds = side.server.wait(path, cookies)
    used = cpu_seconds(side.server.processes())
    return {"seconds": seconds, "cpu": used, "other_cores": max(0.0, busy_seconds() - busy - used) / seconds}


if __name__ == "__main__":
    sys.exit(main())
