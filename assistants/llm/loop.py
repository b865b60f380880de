"""The one asyncio loop of this process that carries every model stream: the server's, or one in a thread of its own."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from assistants import precedence

Result = TypeVar("Result")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def submit(coroutine: Coroutine[Any, Any, Result]) -> "Future[Result]":
    """Runs a coroutine on the stream loop, from any thread; without a server's, a loop starts on first use.

    Waiting on the future blocks the calling thread only. Cancelling the future cancels the task, and with it
    closes the provider's connection (T1). Never wait on it from the stream loop itself.
    """
    return asyncio.run_coroutine_threadsafe(coroutine, stream_loop())


def adopt(loop: asyncio.AbstractEventLoop) -> None:
    """Takes a loop that is about to run, the server's, for the stream loop; only before the first `submit`.

    A delta then reaches the sockets on the loop that read it. A hop from thread to thread would cost more than all the
    rest of its way, as both wait for the same interpreter lock.
    """
    global _loop
    with _lock:
        if _loop is not None:
            raise RuntimeError("a stream loop runs already")
        _loop = loop


def stream_loop() -> asyncio.AbstractEventLoop:
    """Gives the running stream loop and starts its thread if there is none yet."""
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            precedence.watch(_loop)
            threading.Thread(target=_loop.run_forever, name="model-streams", daemon=True).start()
        return _loop


def _forget_after_fork() -> None:
    """A forked child inherits the loop object but not the thread that ran it."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
