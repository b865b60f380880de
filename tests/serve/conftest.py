"""Starts a supervisor with a small server under it, and reads the diary that both keep."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.waiting import until

ROOT = Path(__file__).resolve().parents[2]


def alive(pid: int) -> bool:
    """Tells whether a process runs; one that has ended but was not waited for does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second when it ends while it is read
        return False


def kill(pid: int) -> None:
    """Kills a process and waits until it is gone: a dying server may still take a call."""
    os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(pid))


class Diary:
    """A supervisor's process, and what it and its servers wrote down."""

    def __init__(self, path: Path, *arguments: str) -> None:
        self.path = path
        path.touch()
        command = [sys.executable, "-m", "tests.serve.small_server", str(path), *arguments]
        self.process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)

    def lines(self, start: str) -> list[str]:
        return [line.removeprefix(start).strip() for line in self.path.read_text().splitlines() if line.startswith(start)]

    def child(self, *, number: int = 1) -> int:
        """The process id of the server that was started as the number-th."""
        until(lambda: len(self.lines("child")) >= number)
        return int(self.lines("child")[number - 1])

    def answered(self) -> int:
        """Waits for the announcement and returns the port."""
        until(lambda: self.lines("answered"))
        return int(self.lines("port")[0])


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Diary]]:
    diaries: list[Diary] = []

    def start_one(*arguments: str) -> Diary:
        diaries.append(Diary(tmp_path / f"diary-{len(diaries)}", *arguments))
        return diaries[-1]

    yield start_one
    for diary in diaries:
        for pid in [diary.process.pid, *map(int, diary.lines("child"))]:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        diary.process.communicate()
