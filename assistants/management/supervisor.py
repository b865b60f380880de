"""Keeps one server process alive: starts it, starts it again when it dies, and makes sure that it ends. Knows no Django."""

import argparse
import contextlib
import logging
import logging.config
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from assistants import logs
from assistants.errors import CodedError
from assistants.management.listener import HOST, PORT, listen

# Seconds. A server that lived for STEADY is trusted again: its next crash counts as the first.
GRACE, STEADY, FIRST_DELAY, LONGEST_DELAY, POLL, PATIENCE = 5.0, 30.0, 0.1, 30.0, 0.05, 10.0
MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
# With these `manage.py serve` is the server itself, or says something and ends.
ALONE = ("--unsupervised", "--listener-fd", "--only-welcome", "--help", "-h")

log = logging.getLogger(__name__)


@dataclass
class Restarts:
    """How soon a process that died is started again: almost at once, then after delays that double."""

    crashes: int = 0

    def delay(self, lived: float) -> float:
        """Seconds to wait after one that lived for so many."""
        self.crashes = 1 if lived > STEADY else self.crashes + 1
        return min(FIRST_DELAY * 2.0 ** (self.crashes - 1), LONGEST_DELAY)


class Supervisor:
    """Runs `command` as a child that serves `listener`, which stays open here, so that callers queue during a restart.

    The child is given `--listener-fd` and `--lifeline-fd`. The lifeline is a pipe that closes when this process is gone,
    even by `kill -9`; whoever holds the other end must die then. Until GET /healthz first answers, each child is also given
    the arguments `first` and `--notice-fd`, a pipe that it may write into and closes; then `on_answer` is called once with
    what was written, and later children are given `later` instead. `grace` is how many seconds a child may take to end
    before it is killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        listener: socket.socket,
        on_answer: Callable[[str], None],
        first: Sequence[str] = (),
        later: Sequence[str] = (),
        grace: float = GRACE,
    ) -> None:
        self.listener = listener
        self.on_answer = on_answer
        self.grace = grace
        self.first, self.later = first, later
        self.lifeline, self._our_end = os.pipe()
        self._notice, self._their_end = os.pipe()
        self.command = [*command, f"--listener-fd={listener.fileno()}", f"--lifeline-fd={self.lifeline}"]
        self.child: subprocess.Popen[bytes] | None = None
        self.stopping = False
        self.answered = False

    def run(self) -> int:
        """Supervises until a signal or a clean end of the child, and returns the exit code for this process.

        A child that ends by itself with an error before it ever answered is not started again: the next would fail alike.
        """
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
                signal.signal(number, self._stop)
        signal.signal(signal.SIGALRM, self._kill)
        restarts = Restarts()
        while not self.stopping:
            born = time.monotonic()
            code = self._live_once()
            if self.stopping or code == 0:
                break
            if code > 0 and not self.answered:
                log.error("the server could not start (exit code %s)", code)
                return code
            delay = restarts.delay(time.monotonic() - born)
            log.warning("the server died (%s), starting it again in %.1f s", describe(code), delay)
            self._sleep(delay)
        return 0

    def _live_once(self) -> int:
        """Starts a child and waits for its end; returns its exit code, negative when a signal ended it."""
        # In a group of its own, or a Ctrl-C in the terminal would reach it twice.
        handles, more = [self.listener.fileno(), self.lifeline], [*self.later]
        if not self.answered:
            handles.append(self._their_end)
            more = [*self.first, f"--notice-fd={self._their_end}"]
        self.child = subprocess.Popen([*self.command, *more], stdin=subprocess.DEVNULL, pass_fds=handles, process_group=0)
        if self.stopping:
            self._terminate()
        self._await_answer(self.child)
        code = self.child.wait()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return code

    def _await_answer(self, child: subprocess.Popen[bytes]) -> None:
        def waiting() -> bool:
            return child.poll() is None and not self.stopping

        while waiting():
            if answers(self.listener.getsockname()[:2], waiting=waiting):
                if not self.answered:
                    self.answered = True
                    os.close(self._their_end)
                    with open(self._notice) as notice:
                        self.on_answer(notice.read())
                return
            time.sleep(POLL)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.stopping and number == signal.SIGINT:
            return self._kill(number, frame)
        self.stopping = True
        self._terminate()

    def _terminate(self) -> None:
        # Daphne was seen to hang on SIGTERM under load, so a deadline goes with the request.
        if self.child is not None:
            self.child.send_signal(signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, self.grace)

    def _kill(self, number: int, frame: FrameType | None) -> None:
        if self.child is not None:
            log.warning("the server has not ended by itself, killing it")
            self.child.kill()

    def _sleep(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self.stopping and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, POLL))


def die_with(lifeline: int) -> None:
    """Kills this process as soon as the other end of the pipe is closed, that is when the supervisor is gone."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGKILL)


def answers(address: tuple[str, int], *, waiting: Callable[[], bool] = lambda: True) -> bool:
    """Tells whether GET /healthz gets anything but a server error within 10 s, or until `waiting()` says no."""
    host, port = address
    try:
        with socket.create_connection(("127.0.0.1" if host == "0.0.0.0" else host, port), timeout=PATIENCE) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            end = time.monotonic() + PATIENCE
            while waiting() and time.monotonic() < end:
                if select.select([line], [], [], POLL)[0]:
                    return line.recv(10).startswith((b"HTTP/1.1 2", b"HTTP/1.1 3", b"HTTP/1.1 4"))
    except OSError:
        pass
    return False


def describe(code: int) -> str:
    """An exit code in words: the name of the signal that ended the process, or the number."""
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def announce(notice: str) -> None:
    """Prints the notice; where nothing can be printed, the site serves all the same (F29)."""
    with contextlib.suppress(OSError):
        print(notice, flush=True)


def looks_after(arguments: Sequence[str]) -> bool:
    """Whether `manage.py serve` with these arguments is kept alive by a supervisor."""
    return not any(each.partition("=")[0] in ALONE for each in arguments)


def supervise(arguments: Sequence[str]) -> int:
    """Runs `manage.py serve` with these arguments under a supervisor, and gives the exit code.

    Only the first server that answers checks the settings, brings the data up to date, and makes the link that is printed.
    The link comes in a pipe, since every account of the machine may read a process's arguments, and it is a key.
    """
    parser = argparse.ArgumentParser(prog="manage.py serve", add_help=False)
    parser.add_argument("--host", default=HOST)
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--prepare", action="store_true")
    own, others = parser.parse_known_args(arguments)
    logging.config.dictConfig(logs.set_up("WARNING", os.environ.get("TASKMONKEY_LOG_FORMAT", "")))
    try:
        listener = listen(own.host, own.port)
    except CodedError as error:
        print(error.message, error.fix, file=sys.stderr)
        return 1
    # Whoever looks for a model server on this machine must not take this site for one.
    os.environ["PORT"] = str(listener.getsockname()[1])
    first = ["--prepare"] if own.prepare else []
    command = [sys.executable, str(MANAGE), "serve", *others]
    return Supervisor(command, listener=listener, on_answer=announce, first=first, later=["--skip-checks"]).run()
