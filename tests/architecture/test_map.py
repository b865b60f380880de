"""The map in docs/architecture.md shows the code as it is."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_map_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, "docs/map.py", "--check"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
