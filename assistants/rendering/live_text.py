"""What one page still has to be told of the reply that grows in its thread."""

from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from assistants.turns import live

from .readers import Addition
from .stream import Cursor, MarkdownStream

# A drawing that takes longer than this stretches the pause before the next one.
QUICK_SECONDS = 0.001
STRETCH = 20
LONGEST_PAUSE_SECONDS = 0.1

# One renderer per growing reply and process, however many pages look at it.
_streams: "WeakKeyDictionary[live.LiveReply, MarkdownStream]" = WeakKeyDictionary()


class LiveText:
    """One page's reading position in the growing reply of a thread."""

    def __init__(self, thread_id: int) -> None:
        self._thread_id = thread_id
        self._stream: MarkdownStream | None = None
        self._reply: live.LiveReply | None = None
        self._cursor = Cursor()
        self._version = -1
        self._introduced: live.LiveReply | None = None
        self._ended: UUID | None = None

    def frames(self) -> list[dict[str, Any]]:
        """What is new, in order, as frames.

        {"m": message number} empties the message, and with "new" makes a place for it if the page has none yet;
        {"m", "b": block number, "h": html} sets one of its blocks; {"m", "b", "t": text} adds words to the end of a
        block's last line, {"m", "b", "a": text} text to its code.
        """
        reply = live.current(self._thread_id)
        if reply is None or reply.message_id == self._ended or (reply is self._reply and reply.version == self._version):
            return []
        frames: list[dict[str, Any]] = []
        if reply is not self._reply:
            self._reply, self._cursor = reply, Cursor()
            self._stream = _streams.setdefault(reply, MarkdownStream())
            frames.append(self._beginning(reply))
        assert self._stream
        self._version = reply.version
        self._stream.update(reply.text)
        blocks, self._cursor = self._stream.frames(self._cursor, additions=True)
        return frames + [_frame(reply.sequence, number, html) for number, html in blocks]

    def _beginning(self, reply: live.LiveReply) -> dict[str, Any]:
        # Only once: later on a person may look at another branch, where the reply has no place.
        fresh, self._introduced = reply.shown and reply is not self._introduced, reply
        return {"m": reply.sequence, "new": True} if fresh else {"m": reply.sequence}

    def start_over(self, *, ended: UUID | None = None) -> None:
        """Sends the whole reply again next time, since the page has drawn it anew from somewhere else.

        Nothing more of the one that has `ended`: its last drawing is what was stored of it (P4).
        """
        self._reply, self._ended = None, ended

    @property
    def pause(self) -> float:
        """Seconds to let pass before the next look: none, unless the last drawing was slow (at most 0.1)."""
        slow = self._stream.seconds - QUICK_SECONDS if self._stream else 0.0
        return min(STRETCH * slow, LONGEST_PAUSE_SECONDS) if slow > 0 else 0.0


def _frame(message: int, block: int, html: str) -> dict[str, Any]:
    if isinstance(html, Addition):
        return {"m": message, "b": block, "a" if html.is_code else "t": html.text}
    return {"m": message, "b": block, "h": html}
