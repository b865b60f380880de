"""The replies that grow right now, as this process knows them: the only thing a page is shown that is not recorded yet."""

import secrets
import threading
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from assistants import clock

from . import hub

# Between two hints to the pages of callers, whose cards show the last line of what a sub-chat writes.
TREE_SECONDS = 0.5


@dataclass(eq=False)
class LiveReply:
    """One growing reply. Written by the stream loop, read by sockets and by the once-a-second save.

    `shown` says that it stood on the branch that pages show when it began. `run` tells one attempt at a message from the
    next. In a process that only shows what another one streams, it is a copy, kept up by the relay.
    """

    thread_id: int
    root_id: int
    message_id: UUID
    sequence: int
    shown: bool = False
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    is_copy: bool = False
    chunks: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    version: int = 0
    first_at: float = 0.0
    _next_tree: float = 0.0

    def __post_init__(self) -> None:
        self._text, self._tree = f"text:{self.thread_id}", f"tree:{self.root_id}"

    def on_text(self, delta: str) -> None:
        self.chunks.append(delta)
        self._changed()

    def on_reasoning(self, delta: str) -> None:
        self.reasoning.append(delta)
        self._changed()

    def follow(self, text: str, reasoning: str = "") -> None:
        """Adds to a copy what its reply has grown by; only pages here learn of it."""
        self.chunks.append(text)
        self.reasoning.append(reasoning)
        self.version += 1
        hub.wake(self._text)

    def _changed(self) -> None:
        if not self.version:
            self.first_at = clock.monotonic()
        self.version += 1
        hub.wake(self._text)
        if _teller:
            _teller.grow(self)
        # A root has no caller, and its own pages show the text itself.
        if self.root_id != self.thread_id and (now := clock.monotonic()) >= self._next_tree:
            self._next_tree = now + TREE_SECONDS
            hub.poke(self._tree, but=self._text)

    @property
    def text(self) -> str:
        return _joined(self.chunks)

    @property
    def reasoning_text(self) -> str:
        return _joined(self.reasoning)


def _joined(chunks: list[str]) -> str:
    if len(chunks) > 1:
        # Joined in place, so that reading a long reply again and again stays cheap.
        count = len(chunks)
        chunks[:count] = ["".join(chunks[:count])]
    return chunks[0] if chunks else ""


class Teller(Protocol):
    """Tells other processes of replies that grow here (see `relay`)."""

    def grow(self, reply: LiveReply) -> None:
        """It has more text; called on the thread that it grows on, never waits."""

    def close(self, reply: LiveReply) -> None:
        """It grows no more."""


_lock = threading.Lock()
_replies: dict[int, LiveReply] = {}
_teller: Teller | None = None


def use_teller(teller: Teller | None) -> None:
    """From now on other processes learn how the replies of this one grow."""
    global _teller
    _teller = teller


def keep_copy(reply: LiveReply) -> None:
    """Shows a reply that grows in another process; pages of this one read it like their own."""
    with _lock:
        _replies[reply.thread_id] = reply


def begin(thread_id: int, root_id: int, message_id: UUID, sequence: int, *, shown: bool = False) -> LiveReply:
    """Opens the live reply of a thread; an older one of the same thread is replaced."""
    reply = LiveReply(thread_id, root_id, message_id, sequence, shown)
    with _lock:
        _replies[thread_id] = reply
    return reply


def end(reply: LiveReply) -> None:
    """Closes a live reply, unless a newer one took its place."""
    with _lock:
        if _replies.get(reply.thread_id) is reply:
            del _replies[reply.thread_id]
    if _teller and not reply.is_copy:
        _teller.close(reply)


def own() -> list[LiveReply]:
    """The replies that grow in this process."""
    return [reply for reply in list(_replies.values()) if not reply.is_copy]


def is_any() -> bool:
    """Whether some reply grows that a page of this process may show."""
    return bool(_replies)


def current(thread_id: int) -> LiveReply | None:
    """The reply that grows in this thread now, if it does so in this process or is watched here."""
    return _replies.get(thread_id)
