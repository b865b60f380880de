"""Starts the process that converts, hands it files, and does away with it when a file is too much for it."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assistants import clock

from ..passages import Cut
from ..prepare import Columns, Ready
from .converted import Unreadable

WALL_SECONDS = 30.0
# Python, the libraries and their buffers grow with every file; a fresh process costs a tenth of a second.
FILES_PER_PROCESS = 2000
MOST_ANSWERED = 256 * 1024 * 1024
_HOUSE = Path(__file__).resolve().parents[3]


class Converter:
    """One process for many files, started when the first one comes. A poisoned file costs only itself (S38)."""

    def __init__(self, *, seconds: float = WALL_SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def prepare(self, path: str, data: bytes) -> Ready:
        """A file's text and passages; `path` says by its ending what it is. Raises Unreadable, with the reason."""
        process = self._started()
        ends = clock.monotonic() + self._seconds
        name = path.encode()
        try:
            _send(process, b"%d %d\n%b%b" % (len(name), len(data), name, data), ends)
            answer = _receive(process, ends)
        except _Silent as silence:
            self.close()
            raise Unreadable(silence.reason or _end_of(process)) from None
        self._files += 1
        if self._files >= FILES_PER_PROCESS:
            self.close()
        return _ready(answer)

    def close(self) -> None:
        """Ends the process, if there is one."""
        process, self._process, self._files = self._process, None, 0
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-s", "-m", "assistants.documents.conversion.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=_HOUSE,
                # None of the site's secrets are its business.
                env={"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            )
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                os.set_blocking(pipe.fileno(), False)
        return self._process


class _Silent(Exception):
    """The process gave no answer; without a reason it has ended."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


def _send(process: subprocess.Popen[bytes], data: bytes, ends: float) -> None:
    assert process.stdin is not None
    pipe, rest = process.stdin.fileno(), memoryview(data)
    while rest:
        _wait(pipe, select.POLLOUT, ends)
        try:
            rest = rest[os.write(pipe, rest[: 1 << 20]) :]
        except BlockingIOError:
            continue
        except OSError:
            raise _Silent from None


def _receive(process: subprocess.Popen[bytes], ends: float) -> Any:
    assert process.stdout is not None
    pipe, data, length = process.stdout.fileno(), bytearray(), -1
    while length < 0 or len(data) < length:
        _wait(pipe, select.POLLIN, ends)
        chunk = os.read(pipe, 1 << 20)
        data += chunk
        if not chunk or len(data) > MOST_ANSWERED:
            raise _Silent
        if length < 0 and b"\n" in data:
            head, _, rest = data.partition(b"\n")
            if not head.isdigit():
                raise _Silent
            length, data = int(head), rest
    try:
        return json.loads(data)
    except ValueError:
        raise _Silent from None


def _wait(pipe: int, event: int, ends: float) -> None:
    # Not select(): a server may hold more files than that can count.
    poll = select.poll()
    poll.register(pipe, event)
    left = ends - clock.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise _Silent("takes too long to read")


def _end_of(process: subprocess.Popen[bytes]) -> str:
    """Why the process ended by itself. It was killed and waited for before this is asked."""
    if process.returncode == -signal.SIGXCPU:
        return "takes too long to read"
    return "too much for its reader, which broke off"


def _ready(answer: Any) -> Ready:
    """What a process said that may have been taken over by a file: only its shape is relied on."""
    try:
        title, text, note, cuts, columns = answer
        made = tuple(
            Cut(int(first), int(last), str(heading), str(of), str(anchor)) for first, last, heading, of, anchor in cuts
        )
        words = tuple(Columns(*map(str, each)) for each in columns)
        if len(made) == len(words):
            return Ready(str(title)[:200], str(text), str(note)[:500], made, words)
    except (TypeError, ValueError):
        pass
    raise Unreadable(str(answer.get("problem", "damaged") if isinstance(answer, dict) else "damaged")[:200])
