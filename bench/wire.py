"""Just enough HTTP/1.1 and websocket, on plain asyncio, for neither the floor nor the clients to cost much."""

import asyncio
import base64
import hashlib
import os
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
LENGTH = re.compile(rb"(?im)^content-length:\s*(\d+)")
CHUNKED = re.compile(rb"(?im)^transfer-encoding:\s*chunked")
COOKIE = re.compile(rb"(?im)^set-cookie:\s*([^=;\s]+)=([^;\r]*)")
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


@dataclass(frozen=True)
class Answer:
    """An HTTP answer, read to its end."""

    status: int
    head: bytes
    body: bytes

    def cookies(self) -> dict[str, str]:
        """The cookies that it sets."""
        return {name.decode(): value.decode() for name, value in COOKIE.findall(self.head)}


class Browser:
    """One person's browser: cookies, and a kept-open connection for pages and commands."""

    def __init__(self, port: int, cookies: dict[str, str] | None = None) -> None:
        self.port = port
        self.cookies = dict(cookies or {})
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, *, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """Asks for a page, or posts `body`; a connection that the server closed meanwhile is opened once more."""
        fresh = self._line is None
        try:
            return await self._ask(path, body, headers or {})
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hang_up()
            if fresh:
                raise
            return await self._ask(path, body, headers or {})

    async def listen(self, path: str) -> "Socket":
        """Opens a websocket as a page does, with cookies and origin."""
        return Socket(*await self.line(path))

    async def line(self, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection that has become a websocket. Raises ConnectionError with the server's answer if it has not."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
        upgrade |= {"Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), "Origin": self.origin}
        writer.write(self._head("GET", path, upgrade))
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n", 1)[0]:
            raise ConnectionError(head.split(b"\r\n", 1)[0].decode())
        return reader, writer

    def hang_up(self) -> None:
        """Closes the kept connection."""
        if self._line:
            self._line[1].close()
            self._line = None

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _ask(self, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        if self._line is None:
            self._line = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._line
        if body is not None:
            headers = {"Content-Length": str(len(body)), **headers}
        writer.write(self._head("GET" if body is None else "POST", path, headers) + (body or b""))
        answer = await read_answer(reader)
        self.cookies |= answer.cookies()
        return answer

    def _head(self, method: str, path: str, headers: dict[str, str]) -> bytes:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        lines = {"Host": f"127.0.0.1:{self.port}", **({"Cookie": cookies} if cookies else {}), **headers}
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode()


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    """Reads one answer, by its length, its chunks or (with neither) no body at all."""
    head = await reader.readuntil(b"\r\n\r\n")
    body = b""
    if length := LENGTH.search(head):
        body = await reader.readexactly(int(length[1]))
    elif CHUNKED.search(head):
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    return Answer(int(head.split(b" ", 2)[1]), head, body)


class Socket:
    """A client's websocket. Text frames go to `on_text` at once, without a queue between."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.on_text: Callable[[str], None] = lambda text: None
        self._pump = asyncio.create_task(self._read())

    def take(self, text: str) -> None:
        """Hands a text frame on."""
        self.on_text(text)

    def send(self, text: str) -> None:
        """Sends a text frame."""
        self._writer.write(frame(text.encode(), masked=True))

    async def ended(self) -> str:
        """Waits until the connection is over, and says why."""
        try:
            return await asyncio.shield(self._pump)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            return repr(error)

    def close(self) -> None:
        """Says good-bye and closes the connection."""
        self._pump.cancel()
        if not self._writer.is_closing():
            self._writer.write(frame(struct.pack("!H", 1000), CLOSE, masked=True))
        self._writer.close()

    async def _read(self) -> str:
        while True:
            opcode, payload = await read_frame(self._reader)
            if opcode == TEXT:
                self.take(payload.decode())
            elif opcode == PING:
                self._writer.write(frame(payload, PONG, masked=True))
            elif opcode == CLOSE:
                return f"closed with {int.from_bytes(payload[:2], 'big')}"


def accept(key: bytes) -> bytes:
    """A server's answer to the client's websocket key."""
    return base64.b64encode(hashlib.sha1(key + MAGIC).digest())


def frame(payload: bytes, opcode: int = TEXT, *, masked: bool = False) -> bytes:
    """One whole frame. Clients must mask; the mask may be zeros, which leave the payload as it is."""
    bit = 0x80 if masked else 0
    mask = b"\0\0\0\0" if masked else b""
    size = len(payload)
    if size < 126:
        return bytes((0x80 | opcode, bit | size)) + mask + payload
    if size < 1 << 16:
        return struct.pack("!BBH", 0x80 | opcode, bit | 126, size) + mask + payload
    return struct.pack("!BBQ", 0x80 | opcode, bit | 127, size) + mask + payload


async def read_frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Reads one frame that is not fragmented, masked or not, as (opcode, payload)."""
    first, second = await reader.readexactly(2)
    size = second & 127
    if size == 126:
        size = int.from_bytes(await reader.readexactly(2), "big")
    elif size == 127:
        size = int.from_bytes(await reader.readexactly(8), "big")
    mask = await reader.readexactly(4) if second & 128 else b""
    payload = await reader.readexactly(size)
    if any(mask):
        payload = bytes(byte ^ mask[at & 3] for at, byte in enumerate(payload))
    return first & 15, payload
