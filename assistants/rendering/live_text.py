"""What one page still has to be told of the reply that grows in its thread."""

from typing import Any
from weakref import WeakKeyDictionary

from assistants.turns import live

from .stream import Cursor, MarkdownStream

# One renderer per growing reply and process, however many pages look at it.
_streams: "WeakKeyDictionary[live.LiveReply, MarkdownStream]" = WeakKeyDictionary()


class LiveText:
    """One page's reading position in the growing reply of a thread."""

    def __init__(self, thread_id: int) -> None:
        self._thread_id = thread_id
        self._reply: live.LiveReply | None = None
        self._cursor = Cursor()
        self._version = -1

    def frames(self) -> list[dict[str, Any]]:
        """Frames {"m": message number, "b": block number, "h": html}; a first frame without a block empties the message."""
        reply = live.current(self._thread_id)
        if reply is None:
            return []
        frames: list[dict[str, Any]] = []
        if reply is not self._reply:
            self._reply, self._version = reply, -1
            self._cursor = Cursor()
            frames.append({"m": reply.sequence})
        if reply.version == self._version:
            return frames
        self._version = reply.version
        stream = _streams.setdefault(reply, MarkdownStream())
        stream.update(reply.text)
        blocks, self._cursor = stream.frames(self._cursor)
        return frames + [{"m": reply.sequence, "b": number, "h": html} for number, html in blocks]
