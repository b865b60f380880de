"""Named places where a test makes this process die, hang or fail (D12); nothing happens unless the environment arms one."""

import fcntl
import logging
import os
import signal
import threading
import time

POINTS = (
    "send.received", "send.committed", "send.replied", "turn.claimed", "llm.requested", "llm.first_delta",
    "llm.mid_stream", "llm.finished", "step.committed", "tool.intent_committed", "tool.effect_done",
    "tool.result_committed", "spawn.committed", "child.finished", "turn.finishing", "turn.terminal",
)  # fmt: skip

log = logging.getLogger(__name__)
_lock = threading.Lock()
_passed: dict[str, int] = {}
# In this folder a running process is armed and disarmed: a file is named like its point and holds what the variable would.
FOLDER = os.environ.get("TASKMONKEY_FAILPOINTS_FOLDER", "")


def _armed() -> dict[str, str]:
    """Reads TASKMONKEY_FAILPOINTS, such as `llm.mid_stream=kill9:25,tool.effect_done=raise`: action, then which pass."""
    armed = dict(part.split("=", 1) for part in filter(None, os.environ.get("TASKMONKEY_FAILPOINTS", "").split(",")))
    for name in armed:
        if name not in POINTS:
            raise ValueError(f"TASKMONKEY_FAILPOINTS names {name!r}, which is not one of: {', '.join(POINTS)}")
    return armed


ARMED = _armed()


def failpoint(name: str) -> None:
    """Marks one of the sixteen points of a turn's life; acts only when armed: kill9, stop, hang, raise."""
    if name in ARMED:
        action, _, nth = ARMED[name].partition(":")
        with _lock:
            _passed[name] = _passed.get(name, 0) + 1
            due = _passed[name] == int(nth or 1)
        if due:
            _act(name, action)
    elif FOLDER:
        _pass_file(os.path.join(FOLDER, name))


def _pass_file(path: str) -> None:
    """Counts down what the point's file says, together with all processes that it is for; the last one acts."""
    try:
        with open(path, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            action, _, nth = file.read().partition(":")
            if os.fstat(file.fileno()).st_ino != os.stat(path).st_ino:
                return
            if int(nth or 1) > 1:
                file.seek(0)
                file.truncate()
                file.write(f"{action}:{int(nth) - 1}")
                return
            os.rename(path, f"{path}.reached")
    except FileNotFoundError:
        return
    _act(os.path.basename(path), action)


def _act(name: str, action: str) -> None:
    log.warning("failpoint %s: %s", name, action)
    if action == "kill9":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif action == "hang":
        time.sleep(3600)
    elif action == "raise":
        raise RuntimeError(f"failpoint {name}")
