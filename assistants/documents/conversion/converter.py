"""Starts the process that converts, hands it files, and does away with it when a file is too much for it."""

import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import accumulate, pairwise
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
MOST_ANSWERED, LONGEST_HEAD = 256 * 1024 * 1024, 40
# So many texts are told of each passage: three of its own and four columns.
TEXTS = 7
# What a pipe holds, where that can be set: the more, the less often both sides wait for each other.
PIPE_BYTES = 512 * 1024
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
        (made,) = self.prepare_all([(path, data)])
        if isinstance(made, Unreadable):
            raise made
        return made

    def prepare_all(self, files: Sequence[tuple[str, bytes]]) -> list[Ready | Unreadable]:
        """The same of several, in their order. They are handed over one behind the other, which spares both sides from waiting
        for each other at every file; the one at which the process ends is the one that it has not answered."""
        made: list[Ready | Unreadable] = []
        while len(made) < len(files):
            process = self._started()
            talk = _Talk(process, files[len(made) :])
            try:
                while len(made) < len(files):
                    made.append(_ready(*talk.answer(clock.monotonic() + self._seconds)))
            except _Silent as silence:
                self.close()
                made.append(Unreadable(silence.reason or _end_of(process)))
        self._files += len(files)
        if self._files >= FILES_PER_PROCESS:
            self.close()
        return made

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
                with contextlib.suppress(OSError):
                    fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        return self._process


class _Silent(Exception):
    """The process gave no answer; without a reason it has ended."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class _Talk:
    """What is said to a process and what it answers. It may be answering while it is being told more."""

    def __init__(self, process: subprocess.Popen[bytes], files: Sequence[tuple[str, bytes]]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._input, self._output = process.stdin.fileno(), process.stdout.fileno()
        self._unsaid = memoryview(b"".join(map(_request, *zip(*files, strict=True))))
        self._heard = bytearray()
        # Not select(): a server may hold more files than that can count.
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._poll.register(self._input, select.POLLOUT)

    def answer(self, ends: float) -> tuple[Any, str]:
        """The next file's, as `child.answer_to` makes it. Raises _Silent."""
        while (starts := self._heard.find(b"\n", 0, LONGEST_HEAD) + 1) == 0:
            if len(self._heard) >= LONGEST_HEAD:
                raise _Silent
            self._go_on(ends)
        lengths = self._heard[: starts - 1].split()
        if len(lengths) != 2 or not all(map(bytearray.isdigit, lengths)):
            raise _Silent
        texts = starts + int(lengths[0])
        stops = texts + int(lengths[1])
        while len(self._heard) < stops:
            self._go_on(ends)
        try:
            answer = json.loads(self._heard[starts:texts]), self._heard[texts:stops].decode()
        except ValueError:
            raise _Silent from None
        del self._heard[:stops]
        return answer

    def _go_on(self, ends: float) -> None:
        left = ends - clock.monotonic()
        ready = dict(self._poll.poll(left * 1000)) if left > 0 else {}
        if not ready:
            raise _Silent("takes too long to read")
        if self._input in ready:
            self._say()
        if self._output in ready:
            chunk = os.read(self._output, PIPE_BYTES)
            self._heard += chunk
            if not chunk or len(self._heard) > MOST_ANSWERED:
                raise _Silent

    def _say(self) -> None:
        try:
            self._unsaid = self._unsaid[os.write(self._input, self._unsaid[:PIPE_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:
            # It has ended; what it has answered before may still be there.
            self._unsaid = memoryview(b"")
        if not self._unsaid:
            self._poll.unregister(self._input)


def _request(path: str, data: bytes) -> bytes:
    name = path.encode()
    return b"%d %d\n%b%b" % (len(name), len(data), name, data)


def _end_of(process: subprocess.Popen[bytes]) -> str:
    """Why the process ended by itself. It was killed and waited for before this is asked."""
    if process.returncode == -signal.SIGXCPU:
        return "takes too long to read"
    return "too much for its reader, which broke off"


def _ready(answer: Any, texts: str) -> Ready | Unreadable:
    """What a process said that may have been taken over by a file: only its shape is relied on."""
    try:
        places, lengths = answer
        # Looked at before anything is cut out: lengths that overlap could make very much of little.
        if min(lengths) >= 0 and sum(lengths) == len(texts):
            said = [texts[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]
            title, text, note = said[:3]
            passages = [said[start : start + TEXTS] for start in range(3, len(said), TEXTS)]
            cuts = (Cut(int(first), int(last), *each[:3]) for (first, last), each in zip(places, passages, strict=True))
            return Ready(title[:200], text, note[:500], tuple(cuts), tuple(Columns(*each[3:]) for each in passages))
    except (TypeError, ValueError):
        pass
    return Unreadable(str(answer.get("problem", "damaged") if isinstance(answer, dict) else "damaged")[:200])
