"""Keeps several processes alive together: services first, then web processes and workers, and all end together."""

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from assistants.management.supervisor import POLL, Restarts, describe

log = logging.getLogger(__name__)
PR_SET_PDEATHSIG = 1


@dataclass(eq=False)
class Member:
    """One process that is to live. `grace` is how many seconds it may take to end after SIGTERM (or what `stop` says)."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    grace: float = 5.0
    stop: int = signal.SIGTERM
    handles: Sequence[int] = ()
    account: dict[str, Any] = field(default_factory=dict)
    log: Path | None = None
    process: subprocess.Popen[bytes] | None = None
    born: float = 0.0
    restarts: Restarts = field(default_factory=Restarts)
    due: float = 0.0

    def start(self) -> None:
        """Starts it, in a process group of its own: a Ctrl-C in the terminal is for the team to pass on."""
        self.born = time.monotonic()
        with self.log.open("ab") if self.log else nullcontext() as output:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=self.handles,
                process_group=0,
                preexec_fn=partial(_die_with_parent, self.stop),
                **self.account,
            )

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def said(self) -> str:
        """Where its output stands."""
        return str(self.log or "the lines above")


def _die_with_parent(number: int) -> None:
    """Between fork and exec: the kernel sends this signal when the team itself is killed (Linux; elsewhere nothing does)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


class Team:
    """Members that are started in order and started again when they die; whoever joined last is ended first."""

    def __init__(self) -> None:
        self.members: list[Member] = []
        self.stopping = False

    def listen_for_signals(self) -> None:
        """SIGTERM, SIGINT and SIGHUP end the team; a second Ctrl-C kills what has not ended."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)

    def join(self, member: Member, *, until: Callable[[], bool] | None = None, within: float = 60.0) -> None:
        """Starts a member, and waits until it is of use. Raises RuntimeError if it dies before or the time is up."""
        self.members.append(member)
        member.start()
        if until is not None:
            self.wait(until, within=within)

    def wait(self, until: Callable[[], bool], *, within: float) -> None:
        """Waits until something is so. Raises RuntimeError if a member dies meanwhile or the time is up (seconds)."""
        end = time.monotonic() + within
        while not until() and not self.stopping:
            for member in self.members:
                if not member.alive:
                    raise RuntimeError(f"{member.name} did not start; what it said stands in {member.said}.")
            if time.monotonic() > end:
                last = self.members[-1]
                raise RuntimeError(f"{last.name} is not ready after {within:g} seconds; what it said stands in {last.said}.")
            time.sleep(POLL)

    def watch(self) -> None:
        """Until somebody stops the team, starts again whoever died: at once, then after delays that double."""
        while not self.stopping:
            for member in self.members:
                self._look_after(member)
            time.sleep(POLL)

    def end(self) -> None:
        """Ends all members, the last one first; those of the same kind together."""
        for name in dict.fromkeys(member.name.rstrip("0123456789") for member in reversed(self.members)):
            self._end_together([member for member in self.members if member.name.rstrip("0123456789") == name])

    def _look_after(self, member: Member) -> None:
        if member.alive:
            return
        now = time.monotonic()
        if not member.due:
            delay = member.restarts.delay(now - member.born)
            code = member.process.returncode if member.process else 0
            log.warning("%s died (%s), starting it again in %.1f s", member.name, describe(code), delay)
            member.due = now + delay
        elif now >= member.due:
            member.due = 0.0
            member.start()

    def _end_together(self, members: list[Member]) -> None:
        for member in members:
            if member.process and member.alive:
                member.process.send_signal(member.stop)
        end = time.monotonic() + max((member.grace for member in members), default=0.0)
        while any(member.alive for member in members) and time.monotonic() < end:
            time.sleep(POLL)
        for member in members:
            if member.process and member.alive:
                log.warning("%s has not ended by itself, killing it", member.name)
                member.process.kill()
                member.process.wait()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.stopping and number == signal.SIGINT:
            for member in self.members:
                if member.process and member.alive and member.grace:
                    os.kill(member.process.pid, signal.SIGKILL)
        self.stopping = True
