"""The loop that carries all text goes first: a thread gives way before a statement or a template while the loop is at work."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import connections
from django.db.backends.signals import connection_created

from assistants.desk import desk

# Seconds: how long a thread gives way at most, and how often it looks meanwhile. It is a courtesy, and never a lock.
PATIENCE, LOOK = 0.005, 0.0002
# The loop that is at work with its thread, and nothing while all wait for something to do.
_at_work: tuple[asyncio.AbstractEventLoop, int] | None = None


def watch(loop: asyncio.AbstractEventLoop) -> None:
    """From now on threads that ask the database give way to this loop; to be called before it runs.

    Python lets threads take turns without regard to what they do. The loop loses the interpreter at each system call, so one
    thread that works for 50 ms makes hundreds of words late.
    """
    selector = getattr(loop, "_selector", None)
    if selector is None:
        # A loop of another kind does not let itself be watched.
        return
    wait = selector.select

    def select(timeout: float | None = None) -> Any:
        global _at_work
        if timeout == 0:
            # It only looks whether there is more to do.
            return wait(timeout)
        _at_work = None
        try:
            return wait(timeout)
        finally:
            _at_work = loop, threading.get_ident()

    selector.select = select
    connection_created.connect(_teach, dispatch_uid="precedence")
    for connection in connections.all(initialized_only=True):
        _teach(connection=connection)


def give_way() -> None:
    """Waits a moment while the loop is at work; not while people wait for what is done here."""
    if _must_wait() and not desk.is_crowded:
        until = time.monotonic() + PATIENCE
        while _must_wait() and time.monotonic() < until:
            time.sleep(LOOK)


def _must_wait() -> bool:
    if (busy := _at_work) is None:
        return False
    loop, thread = busy
    # One that has stopped says no more that it is through.
    return loop.is_running() and thread != threading.get_ident()


def _forget_after_fork() -> None:
    """A forked child inherits the loop object but not the thread that ran it."""
    global _at_work
    _at_work = None


os.register_at_fork(after_in_child=_forget_after_fork)


def _teach(*, connection: Any, **_: Any) -> None:
    if _politely not in connection.execute_wrappers:
        # Before those that are put there for a while, which are taken away from the end.
        connection.execute_wrappers.insert(0, _politely)


def _politely(execute: Callable[..., Any], *statement: Any) -> Any:
    give_way()
    return execute(*statement)
