"""Servers that a measurement starts: their CPU and memory by the kernel's account, and their end."""

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TICK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
START_SECONDS, STOP_SECONDS = 120.0, 6.0
# The upstream and the floor may run under an interpreter that has faster libraries than the application's.
FLOOR_PYTHON = os.environ.get("BENCH_FLOOR_PYTHON", sys.executable)

# Who is told to end, by `timeout` for one, stops what it started first.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Server:
    """One server in a process group of its own, which answers on `port`."""

    def __init__(self, command: list[str], *, port: int, log: Path, environment: dict[str, str] | None = None) -> None:
        self.port, self._log = port, log
        self._command, self._environment = command, environment or {}
        self.start()

    def start(self) -> None:
        """Starts it; also again, after it was stopped."""
        self.started = time.monotonic()
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env={**os.environ, **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def wait(self, path: str = "/healthz", cookies: str = "") -> float:
        """Waits until it answers over HTTP, and gives the seconds since its start. Raises RuntimeError if it does not."""
        while not _answers(self.port, path, cookies):
            if self._process.poll() is not None or time.monotonic() - self.started > START_SECONDS:
                self.stop()
                raise RuntimeError(f"the server did not start:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.01)
        return time.monotonic() - self.started

    def stop(self) -> None:
        """Ends the whole group."""
        if self._process.poll() is not None:
            return
        try:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(STOP_SECONDS)

    def processes(self) -> list[int]:
        """The ids of the process and of all below it."""
        return family(self._process.pid)


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, ahead = [], [pid]
    while ahead:
        found.append(ahead.pop())
        ahead += children.get(found[-1], [])
    return found


def cpu_seconds(pids: list[int]) -> float:
    """User and system seconds so far, those of children that have ended included."""
    return sum(sum(map(int, fields[11:15])) for pid in pids if (fields := _stat(pid))) / TICK


def rss_bytes(pids: list[int]) -> int:
    """Resident memory."""
    total = 0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        except OSError:
            continue
    return total


def threads(pids: list[int]) -> int:
    """How many threads they have together."""
    return sum(int(fields[17]) for pid in pids if (fields := _stat(pid)))


def busy_seconds() -> float:
    """CPU seconds of everything on this machine so far."""
    fields = [int(value) for value in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:8])) / TICK


@dataclass(frozen=True)
class Spent:
    """What some processes, and the rest of the machine beside them, used of the CPU, in seconds."""

    seconds: float
    wall: float


class Meter:
    """Counts the CPU seconds of some processes from its making on."""

    def __init__(self, pids: list[int]) -> None:
        self._pids, self._cpu, self._started = pids, cpu_seconds(pids), time.monotonic()

    def read(self) -> Spent:
        """What was spent since."""
        return Spent(cpu_seconds(self._pids) - self._cpu, time.monotonic() - self._started)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat from the state on; nothing for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _answers(port: int, path: str, cookies: str) -> bool:
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Cookie: {cookies}", "Connection: close", "", ""]
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
            line.sendall("\r\n".join(lines).encode())
            return line.recv(12).endswith(b" 200")
    except OSError:
        return False
