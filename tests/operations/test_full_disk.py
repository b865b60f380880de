"""A served site whose output goes to a full disk serves all the same, and comes back after a kill (F29)."""

import subprocess
from pathlib import Path

import httpx2

from assistants.management import private_servers
from tests.serve.conftest import ROOT, kill, until
from tests.serve.test_serve import environment, manage


def test_f29_a_site_that_can_write_no_line_serves_and_starts_again(tmp_path: Path) -> None:
    home = environment(tmp_path)
    subprocess.run(manage("migrate", "--verbosity=0"), cwd=ROOT, env=home, check=True)
    port = private_servers.free_port(0)

    with open("/dev/full", "w") as full:
        site = subprocess.Popen(manage("serve", f"--port={port}"), cwd=ROOT, env=home, stdout=full, stderr=full)
    try:
        until(lambda: answers(port), seconds=180)
        (child,) = children(site.pid)
        kill(child)
        until(lambda: answers(port), seconds=180)

        assert site.poll() is None
        assert children(site.pid) != [child]
    finally:
        site.terminate()
        site.wait(timeout=60)


def children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/readyz", timeout=30, trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False
