"""Measures what the product adds to a stream, beside a bare relay: `python -m bench`."""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from bench.processes import FLOOR_PYTHON
from bench.streams import LOADS, Plan, measure, start_upstream

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--streams", default="1,20,100")
    parser.add_argument("--idle", type=int, default=200)
    given = parser.parse_args()
    levels = {int(v) for v in given.streams.split(",")}
    plan = Plan(loads=tuple(load for load in LOADS if load.streams in levels), rounds=given.rounds, idle=given.idle)
    with tempfile.TemporaryDirectory(prefix="taskmonkey-bench-") as name:
        folder = Path(name)
        upstream = start_upstream(folder, FLOOR_PYTHON)
        try:
            result = asyncio.run(measure(upstream, folder, plan))
        finally:
            upstream.stop()
            print((folder / "app.log").read_text()[-3000:], file=sys.stderr)
    for row in result["rounds"] + result["idle"]:
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
