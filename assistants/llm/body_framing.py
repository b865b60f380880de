"""Where the body of an HTTP/1.1 answer ends: by its length, by its chunks, or with the connection."""

import re
from typing import Protocol

import h11
import httpx2

LONGEST_LINE = 4096
_SIZE = re.compile(rb"[0-9a-fA-F]{1,16}")


class Framing(Protocol):
    """Takes bytes as they arrive and gives the body's part of them; `done` once its end was seen.

    `can_follow` says that the connection can carry another answer. `take` gets nothing when the server has hung up, and
    raises RemoteProtocolError if the body was not at its end or is framed wrongly.
    """

    done: bool
    can_follow: bool

    def take(self, data: bytes) -> bytes: ...


def framing_of(head: h11.Response, *, method: str) -> Framing:
    """The framing that the answer's head announces."""
    fields = dict(head.headers)
    if method == "HEAD" or head.status_code in (204, 304):
        return Counted(0)
    if b"transfer-encoding" in fields:
        return Chunked()
    return Counted(int(fields[b"content-length"])) if b"content-length" in fields else UntilClosed()


class Counted:
    """A body of so many bytes."""

    can_follow = True

    def __init__(self, length: int) -> None:
        self._missing = length
        self.done = not length

    def take(self, data: bytes) -> bytes:
        if not data:
            raise _broken_off()
        piece = data[: self._missing]
        self._missing -= len(piece)
        self.done = not self._missing
        return piece


class UntilClosed:
    """A body that lasts as long as the connection."""

    can_follow = False

    def __init__(self) -> None:
        self.done = False

    def take(self, data: bytes) -> bytes:
        self.done = not data
        return data


class Chunked:
    """A body in chunks, each behind a line with its size. Parts of a chunk are given out before it is whole."""

    can_follow = True

    def __init__(self) -> None:
        self.done = False
        self._rest = b""
        # Bytes missing of the present chunk; its line end is read as an empty line before the next size.
        self._missing = 0
        self._trailing = False

    def take(self, data: bytes) -> bytes:
        if not data:
            raise _broken_off()
        data, self._rest = self._rest + data if self._rest else data, b""
        pieces, at = [], 0
        while at < len(data) and not self.done:
            if self._missing:
                piece = data[at : at + self._missing]
                self._missing -= len(piece)
                pieces.append(piece)
                at += len(piece)
                continue
            end = data.find(b"\n", at)
            if end < 0:
                self._rest = data[at:]
                if len(self._rest) > LONGEST_LINE:
                    raise httpx2.RemoteProtocolError("a line between chunks is too long")
                break
            self._line(data[at:end].rstrip(b"\r"))
            at = end + 1
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _line(self, line: bytes) -> None:
        if self._trailing:
            self.done = not line
        elif line:
            size = _SIZE.fullmatch(line.partition(b";")[0].strip())
            if not size:
                raise httpx2.RemoteProtocolError("a chunk has no size")
            self._missing = int(size[0], 16)
            self._trailing = not self._missing


def _broken_off() -> httpx2.RemoteProtocolError:
    return httpx2.RemoteProtocolError("peer closed connection without sending complete message body")
