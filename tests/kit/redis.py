"""A private Redis for tests: found or installed, on a port of its own, gone without a trace afterwards."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assistants.management import private_servers
from environment import find_service

START_SECONDS = 20


def why_missing() -> str:
    """Empty if Redis is there or could be installed without a question (root on Debian); else what to do."""
    return find_service("redis-server", "redis-server")


@contextmanager
def server() -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Runs a server of its own; gives its address and its process."""
    folder = Path(tempfile.mkdtemp(prefix="taskmonkey-redis-", dir="/tmp"))
    os.chmod(folder, 0o755)
    service = private_servers.redis(folder / "redis", private_servers.free_port(0))
    process = start(service)
    try:
        yield service.url, process
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def start(service: private_servers.Service) -> "subprocess.Popen[bytes]":
    """Starts the service and waits until it answers."""
    import redis

    process = subprocess.Popen(service.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **service.account)
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            with redis.Redis.from_url(service.url) as client:
                client.ping()
            return process
        except redis.exceptions.ConnectionError:
            if process.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.02)
