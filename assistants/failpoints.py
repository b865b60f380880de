"""Named places where a test makes this process die, hang or fail (D12); nothing happens unless the environment arms one."""

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


def _armed() -> dict[str, tuple[str, int]]:
    """Reads TASKMONKEY_FAILPOINTS, such as `llm.mid_stream=kill9:25,tool.effect_done=raise`: action, then which pass."""
    armed = {}
    for part in filter(None, os.environ.get("TASKMONKEY_FAILPOINTS", "").split(",")):
        name, _, action = part.partition("=")
        action, _, nth = action.partition(":")
        if name not in POINTS:
            raise ValueError(f"TASKMONKEY_FAILPOINTS names {name!r}, which is not one of: {', '.join(POINTS)}")
        armed[name] = (action, int(nth or 1))
    return armed


ARMED = _armed()


def failpoint(name: str) -> None:
    """Marks one of the sixteen points of a turn's life; acts only when armed: kill9, hang, raise."""
    if name not in ARMED:
        return
    action, nth = ARMED[name]
    with _lock:
        _passed[name] = _passed.get(name, 0) + 1
        if _passed[name] != nth:
            return
    log.warning("failpoint %s: %s", name, action)
    if action == "kill9":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "hang":
        time.sleep(3600)
    elif action == "raise":
        raise RuntimeError(f"failpoint {name}")
