"""Connections to providers on the loop's own transports: a read costs one system call, and may be held back for a while."""

import asyncio
import select
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2

# What waits to be read at most, in bytes; a provider that sends more is held up.
MOST_UNREAD = 256 * 1024
# Between the attempts at two addresses of one host, in seconds (RFC 8305).
NEXT_ADDRESS_SECONDS = 0.25


class Connection(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """One connection, read by one task at a time. Errors are those of httpcore.

    The library's own stream tells the kernel twice for each read that it wants to read. Each time the interpreter is free for
    other threads, and the loop stands in line behind them: with many streams that is most of what a word waits for.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._unread = bytearray()
        self._error: Exception | None = None
        self._ended = False
        # Something came, or the end; and what was written has gone far enough to write more.
        self._news, self._writable = asyncio.Event(), asyncio.Event()
        self._writable.set()
        # Where reads are not to follow each other at once: how many seconds the next one has to wait.
        self.pace: Callable[[], float] | None = None

    # What the transport tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        self._news.set()
        if len(self._unread) > MOST_UNREAD:
            self._transport.pause_reading()

    def eof_received(self) -> None:
        self._ended = True
        self._news.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._error = error
        self._writable.set()
        self.eof_received()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # What the HTTP client asks

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What came, as soon as there is anything; nothing at the end."""
        if self.pace and (pause := self.pace()) > 0:
            # What comes meanwhile is left to the kernel.
            self._transport.pause_reading()
            await asyncio.sleep(pause)
            if len(self._unread) <= MOST_UNREAD:
                self._transport.resume_reading()
        if self._unread or self._ended:
            # The loop has other work too, however fast a provider is.
            await asyncio.sleep(0)
        else:
            await self._something_new(timeout)
        data = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        if self._ended:
            if not data and self._error:
                raise httpcore2.ReadError(str(self._error)) from self._error
            return data
        if not self._unread:
            self._news.clear()
        if len(self._unread) <= MOST_UNREAD:
            self._transport.resume_reading()
        return data

    async def _something_new(self, timeout: float | None) -> None:
        if timeout is None:
            # A stream's deadlines are watched elsewhere, and this is asked for each of its words.
            await self._news.wait()
            return
        try:
            async with asyncio.timeout(timeout):
                await self._news.wait()
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends it, once what was sent before is not too much."""
        self._transport.write(buffer)
        try:
            async with asyncio.timeout(timeout):
                await self._writable.wait()
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(str(error)) from error
        if self._transport.is_closing():
            raise httpcore2.WriteError(str(self._error or "The connection is closed.")) from self._error

    async def aclose(self) -> None:
        """Ends the connection without a word: whoever closes it has what they wanted, or does not want it any more."""
        self._transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "Connection":
        """Encrypts what follows."""
        try:
            async with asyncio.timeout(timeout):
                encrypted = await self._loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        if encrypted is None:
            raise httpcore2.ConnectError(str(self._error or "The connection was closed before it was encrypted."))
        self._transport = encrypted
        return self

    def get_extra_info(self, info: str) -> Any:
        """As httpcore asks for it. One that has something to read while nothing was asked is of no use any more."""
        if info == "is_readable":
            return bool(self._unread) or self._ended or self._transport.is_closing() or self._kernel_has_more()
        name = {"client_addr": "sockname", "server_addr": "peername"}.get(info, info)
        return self._transport.get_extra_info(name)

    def _kernel_has_more(self) -> bool:
        """Something, or the end, that the loop has not come to yet."""
        asking = select.poll()
        asking.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(asking.poll(0))


class Network(httpcore2.AsyncNetworkBackend):
    """Opens connections."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Connection:
        """A connection to the first of the host's addresses that answers."""
        loop, local = asyncio.get_running_loop(), (local_address, 0) if local_address else None
        try:
            async with asyncio.timeout(timeout):
                _, made = await loop.create_connection(
                    Connection, host, port, local_addr=local, happy_eyeballs_delay=NEXT_ADDRESS_SECONDS
                )
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from error
        except (OSError, UnicodeError) as error:
            # The latter for a name that no host can have.
            raise httpcore2.ConnectError(str(error)) from error
        for option in socket_options or ():
            made.get_extra_info("socket").setsockopt(*option)
        return made

    async def sleep(self, seconds: float) -> None:
        """Between two attempts."""
        await asyncio.sleep(seconds)
