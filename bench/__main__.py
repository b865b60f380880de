"""Measures what the product adds to a stream, beside what only forwards it and beside Chainlit: `python -m bench`."""

import argparse
import asyncio
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.beside import BESIDE, installed
from bench.processes import FLOOR_PYTHON
from bench.streams import LOADS, Plan, measure, start_upstream
from bench.table import table

FIGURES = ("first_p50", "added_p50", "added_p99", "overrun", "cpu_per_1000", "other_cores")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--streams", default="1,20,100")
    parser.add_argument("--idle", type=int, default=200)
    parser.add_argument("--shape", choices=["plain", "markdown"], default="plain")
    parser.add_argument("--beside", nargs="*", choices=list(BESIDE), default=list(BESIDE))
    given = parser.parse_args()
    levels = {int(v) for v in given.streams.split(",")}
    loads = tuple(replace(load, shape=given.shape) for load in LOADS if load.streams in levels)
    plan = Plan(loads=loads, rounds=given.rounds, idle=given.idle, beside=tuple(installed(given.beside)))
    with tempfile.TemporaryDirectory(prefix="taskmonkey-bench-") as name:
        folder = Path(name)
        upstream = start_upstream(folder, FLOOR_PYTHON)
        try:
            result = asyncio.run(measure(upstream, folder, plan))
        finally:
            upstream.stop()
            for log in sorted(folder.glob("*.log")):
                print(log.read_text()[-3000:], file=sys.stderr)
    for row in result["rounds"] + result["idle"]:
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}))
    print(table(result["rounds"], by="streams", figures=FIGURES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
