"""Reads server-sent events with JSON in them, as servers really send them: any line ends, comments, bad bytes, cut lines."""

import json
from collections.abc import Iterator
from typing import Any

# The largest text that a reply may have still fits when every character of it is written as an escape.
MAX_EVENT_BYTES = 12 * 1024 * 1024


class EventTooLong(Exception):
    """One event is longer than a whole reply may be; reading stopped there (F23)."""


class UnreadableEvent(Exception):
    """Something was sent that is neither an event nor JSON, so part of the reply may be lost."""


class WebPageInstead(Exception):
    """The address answers with a web page: most likely it is not the model server's."""

    body = {"message": "it answered with a web page, so the address may be wrong"}


class EventParser:
    """Takes bytes as they arrive and gives each event's JSON as soon as its line is whole.

    Bad bytes are handed on as surrogate escapes, for `plain_text` to mend: a character may be split over two events.
    A body that is plain JSON instead of events, as servers send for errors, counts as one event. Raises EventTooLong,
    UnreadableEvent and WebPageInstead.
    """

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._begun = False
        self._plain = False
        self._data: list[str] = []
        self.done = False

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """Takes the next bytes; yields the events that they complete."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk, self._after_cr = chunk[1:], False
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        elif chunk:
            self._after_cr = False
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield from self._line(self._complete(line))
        if rest:
            self._pending.append(rest)
            self._grow(len(rest))

    def close(self) -> Iterator[Any]:
        """Says that no more bytes come; yields what the last line, without a line end, still holds."""
        if self._pending:
            yield from self._line(self._complete(b""))
        if self._plain or self._data:
            data, self._data = "\n".join(self._data), []
            try:
                yield json.loads(data)
            except (ValueError, RecursionError):
                return

    def _complete(self, end: bytes) -> bytes:
        if not self._pending:
            return end
        line = b"".join((*self._pending, end))
        self._pending.clear()
        return line

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_EVENT_BYTES:
            raise EventTooLong

    def _line(self, raw: bytes) -> Iterator[Any]:
        line = raw.decode("utf-8", "surrogateescape")
        if not self._begun:
            line = line.removeprefix("\ufeff")
            self._begin(line)
        if self._plain:
            self._grow(len(line))
            self._data.append(line)
        elif not line:
            yield from self._end_of_event()
        elif line.startswith("data:"):
            yield from self._take_data(line[5:].lstrip(" "))

    def _begin(self, line: str) -> None:
        """Looks at the first line that says anything: events, plain JSON, or a web page."""
        start = line.lstrip()[:1]
        self._begun = bool(start)
        self._plain = start == "{"
        if start == "<":
            raise WebPageInstead

    def _take_data(self, payload: str) -> Iterator[Any]:
        if payload.rstrip() == "[DONE]":
            self.done = True
            return
        if not self._data:
            # Most servers put one event in one line: it need not wait for the empty line behind it.
            try:
                event = json.loads(payload)
            except (ValueError, RecursionError):
                self._data.append(payload)
            else:
                self._size = 0
                yield event
            return
        self._grow(len(payload))
        self._data.append(payload)

    def _end_of_event(self) -> Iterator[Any]:
        self._size = 0
        if not self._data:
            return
        data, self._data = "\n".join(self._data), []
        try:
            event = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UnreadableEvent from error
        yield event
