"""A private PostgreSQL, thrown away afterwards; `python -m tests.kit.postgres -m pytest tests/turns` runs beside one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assistants.management.private_servers import ROLE, find_postgres, unprivileged

START_SECONDS = 60
# What a test server forgets when the power fails is of no interest, and only its own user gets at the socket.
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "150",
    "shared_buffers": "128MB",
    "log_min_messages": "fatal",
    "deadlock_timeout": "200ms",
}


@contextmanager
def server(**settings: str) -> Iterator[str]:
    """Runs a server of its own; gives the DATABASE_URL of an empty database. Gone without a trace afterwards."""
    programs = find_postgres()
    if programs is None:
        raise RuntimeError("There is no PostgreSQL on this machine; on Debian and Ubuntu: apt install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="taskmonkey-pg-", dir="/tmp"))
    as_user = unprivileged(folder)
    data = folder / "data"
    make = [programs / "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", f"--username={ROLE}", "--no-sync"]
    try:
        subprocess.run([*make, f"--pgdata={data}"], check=True, stdout=subprocess.DEVNULL, cwd=folder, **as_user)
        chosen = {**SETTINGS, "unix_socket_directories": str(folder), **settings}
        options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        process = subprocess.Popen([programs / "postgres", "-D", data, *options], cwd=folder, **as_user)
        try:
            _wait_until_ready(programs, folder, process)
            yield f"postgres://{ROLE}@/postgres?host={folder}"
        finally:
            # Nothing is kept, so nothing has to be written.
            process.send_signal(signal.SIGQUIT)
            process.wait(timeout=START_SECONDS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_ready(programs: Path, folder: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    ask = [programs / "pg_isready", "--quiet", f"--host={folder}", f"--username={ROLE}", "--dbname=postgres"]
    while subprocess.run(ask).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("PostgreSQL did not start; what it said stands above")
        time.sleep(0.1)


if __name__ == "__main__":
    with server() as url:
        sys.exit(subprocess.run([sys.executable, *sys.argv[1:]], env={**os.environ, "DATABASE_URL": url}).returncode)
