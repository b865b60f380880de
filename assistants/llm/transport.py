"""HTTP/1.1 to model servers on bare asyncio, so that each read of a reply's stream is one short step."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import cached_property

import h11
import httpx2

from assistants.llm.body_framing import Framing, framing_of

MAX_HEAD_BYTES = 64 * 1024
# What a server may send ahead of the reader before it is held up.
MAX_UNREAD_BYTES = 256 * 1024
IDLE_CONNECTIONS = 20
IDLE_SECONDS = 30.0


@dataclass(frozen=True)
class Origin:
    """Where a connection leads."""

    scheme: str
    host: str
    port: int


class StreamTransport(httpx2.AsyncBaseTransport):
    """Sends one request per connection at a time and keeps finished connections for the next ones.

    The stock transport takes ten times as long for each read. This one knows no proxies and no HTTP/2. Raises the stock
    exceptions: ConnectError, ConnectTimeout, ReadError, WriteError, RemoteProtocolError, LocalProtocolError.
    """

    def __init__(self) -> None:
        self._idle: dict[Origin, list[Connection]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        origin = Origin(url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80))
        body = b"".join([part async for part in request.stream])  # type: ignore[union-attr]
        connection = self._reuse(origin) or await self._connect(origin, request)
        try:
            head = await connection.ask(request, body)
            framing = framing_of(head, method=request.method)
        except h11.RemoteProtocolError as error:
            connection.drop()
            raise httpx2.RemoteProtocolError(str(error), request=request) from error
        except h11.LocalProtocolError as error:
            connection.drop()
            raise httpx2.LocalProtocolError(str(error), request=request) from error
        except BaseException:
            connection.drop()
            raise
        stays = framing.can_follow and (b"connection", b"close") not in [(n, v.lower()) for n, v in head.headers]
        return httpx2.Response(
            head.status_code,
            headers=list(head.headers.raw_items()),
            stream=Body(connection, framing, keep=self._keep if stays and head.http_version == b"1.1" else None),
            extensions={"http_version": b"HTTP/" + head.http_version, "reason_phrase": head.reason},
        )

    async def aclose(self) -> None:
        """Closes what is kept."""
        for connections in self._idle.values():
            for connection in connections:
                connection.drop()
        self._idle.clear()

    def _reuse(self, origin: Origin) -> "Connection | None":
        kept = self._idle.get(origin, [])
        now = asyncio.get_running_loop().time()
        while kept:
            connection = kept.pop()
            if connection.is_open and now - connection.idle_since < IDLE_SECONDS:
                return connection
            connection.drop()
        return None

    def _keep(self, connection: "Connection") -> None:
        kept = self._idle.setdefault(connection.origin, [])
        if not connection.is_open or len(kept) >= IDLE_CONNECTIONS:
            connection.drop()
            return
        connection.idle_since = asyncio.get_running_loop().time()
        kept.append(connection)

    async def _connect(self, origin: Origin, request: httpx2.Request) -> "Connection":
        if origin.scheme not in ("http", "https"):
            raise httpx2.UnsupportedProtocol(f"no transport for {origin.scheme}", request=request)
        secure = self._tls if origin.scheme == "https" else None
        seconds = request.extensions.get("timeout", {}).get("connect")
        try:
            async with asyncio.timeout(seconds):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: Connection(origin), origin.host, origin.port, ssl=secure, happy_eyeballs_delay=0.25
                )
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("the connection took too long", request=request) from error
        except OSError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        return connection

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx2.create_ssl_context()


class Connection(asyncio.Protocol):
    """One connection to a server: collects what arrives, and wakes whoever waits for it."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.idle_since = 0.0
        self._parts: list[bytes] = []
        self._unread = 0
        self._held_up = False
        self._ended = False
        self._fault: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        self._unread += len(data)
        if self._unread > MAX_UNREAD_BYTES and not self._held_up:
            self._held_up = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, fault: Exception | None) -> None:
        self._ended, self._fault = True, fault
        self._wake()

    @property
    def is_open(self) -> bool:
        """Whether another request may be sent: nothing was received unasked, and the server has not hung up."""
        return not self._ended and not self._parts and not self._transport.is_closing()

    async def ask(self, request: httpx2.Request, body: bytes) -> h11.Response:
        """Sends the request and reads the head of its answer; what came behind the head is read next."""
        exchange = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        target = request.url.raw_path
        head = h11.Request(method=request.method, target=target, headers=request.headers.raw)
        pieces = [exchange.send(head), exchange.send(h11.Data(data=body)) if body else b"", exchange.send(h11.EndOfMessage())]
        self._transport.write(b"".join(piece for piece in pieces if piece))
        while not isinstance(event := exchange.next_event(), h11.Response):
            if event is h11.NEED_DATA:
                exchange.receive_data(await self.read())
        rest, _ = exchange.trailing_data
        if rest:
            self._parts.insert(0, rest)
            self._unread += len(rest)
        return event

    async def read(self) -> bytes:
        """What has arrived, or what arrives next; nothing once the server has hung up. Raises ReadError."""
        if not self._parts:
            if not self._ended:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
            if not self._parts:
                if self._fault:
                    raise httpx2.ReadError(str(self._fault))
                return b""
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        self._unread = 0
        if self._held_up:
            self._held_up = False
            self._transport.resume_reading()
        return data

    def drop(self) -> None:
        """Closes the connection at once."""
        self._transport.abort()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)


class Body(httpx2.AsyncByteStream):
    """The body of one answer, in pieces as they arrive. One that is not read to its end takes its connection along."""

    def __init__(self, connection: Connection, framing: Framing, *, keep: Callable[[Connection], None] | None) -> None:
        self._connection, self._framing, self._keep = connection, framing, keep
        self._over = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        framing, read = self._framing, self._connection.read
        while not framing.done:
            if piece := framing.take(await read()):
                yield piece
        self._end(whole=True)

    async def aclose(self) -> None:
        self._end(whole=self._framing.done)

    def _end(self, *, whole: bool) -> None:
        if self._over:
            return
        self._over = True
        if whole and self._keep:
            self._keep(self._connection)
        else:
            self._connection.drop()
