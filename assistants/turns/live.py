"""The replies that grow in this process right now: the only thing a page is shown that is not recorded yet."""

import threading
from dataclasses import dataclass, field
from uuid import UUID

from assistants import clock

from . import hub

# Between two hints to the pages of callers, whose cards show the last line of what a sub-chat writes.
TREE_SECONDS = 0.5


@dataclass(eq=False)
class LiveReply:
    """One growing reply. Written by the stream loop, read by sockets and by the once-a-second save.

    `shown` says that it stood on the branch that pages show when it began.
    """

    thread_id: int
    root_id: int
    message_id: UUID
    sequence: int
    shown: bool = False
    chunks: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    version: int = 0
    _next_tree: float = 0.0

    def __post_init__(self) -> None:
        self._text, self._tree = f"text:{self.thread_id}", f"tree:{self.root_id}"

    def on_text(self, delta: str) -> None:
        self.chunks.append(delta)
        self._changed()

    def on_reasoning(self, delta: str) -> None:
        self.reasoning.append(delta)
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        hub.poke(self._text)
        # A root has no caller, and its own pages show the text itself.
        if self.root_id != self.thread_id and (now := clock.monotonic()) >= self._next_tree:
            self._next_tree = now + TREE_SECONDS
            hub.poke(self._tree, but=self._text)

    @property
    def text(self) -> str:
        if len(self.chunks) > 1:
            # Joined in place, so that reading a long reply again and again stays cheap.
            count = len(self.chunks)
            self.chunks[:count] = ["".join(self.chunks[:count])]
        return self.chunks[0] if self.chunks else ""

    @property
    def reasoning_text(self) -> str:
        return "".join(self.reasoning)


_lock = threading.Lock()
_replies: dict[int, LiveReply] = {}


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


def current(thread_id: int) -> LiveReply | None:
    """The reply that grows in this thread now, if it does so in this process."""
    return _replies.get(thread_id)
