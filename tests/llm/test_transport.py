"""HTTP/1.1 as model servers speak it: bodies however they are framed and cut, and connections that are used again."""

import asyncio
from collections.abc import Awaitable, Callable

import h11
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistants.llm.body_framing import Chunked, framing_of
from assistants.llm.loop import submit
from assistants.llm.transport import MAX_UNREAD_BYTES, StreamTransport

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def visit(talk: Talk, visitor: Callable[[httpx2.AsyncClient, str], Awaitable[object]]) -> object:
    """Lets a client with the transport meet a server of one's own; every connection is one call of `talk`."""

    async def meet() -> object:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await talk(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, httpx2.AsyncClient(transport=StreamTransport()) as client:
            return await visitor(client, f"http://127.0.0.1:{port}/")

    return submit(meet()).result(20)


def answering(*answers: bytes, seen: list[bytes] | None = None) -> Talk:
    """A server that gives one answer after the other on the same connection."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            head = await reader.readuntil(b"\r\n\r\n")
            if seen is not None:
                seen.append(head)
            writer.write(answer)

    return talk


async def get(client: httpx2.AsyncClient, url: str) -> bytes:
    return (await client.get(url)).content


def in_chunks(parts: list[bytes]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts if part) + b"0\r\n\r\n"


@settings(deadline=None, database=None)
@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(0, 400), max_size=12))
def test_a_body_in_chunks_is_the_same_however_it_is_cut(parts: list[bytes], cuts: list[int]) -> None:
    wire, framing = in_chunks(parts), Chunked()
    ends = sorted({min(cut, len(wire)) for cut in cuts} | {len(wire)})

    body = b"".join(framing.take(wire[a:b]) for a, b in zip([0, *ends], ends, strict=False) if a < b)

    assert body == b"".join(parts)
    assert framing.done


@pytest.mark.parametrize("wire", [b"zz\r\nab", b"-1\r\nab", b"5" * 20 + b"\r\n", b"5" * 5000])
def test_a_chunk_without_a_proper_size_is_refused(wire: bytes) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        Chunked().take(wire)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"Content-Length: 5", b"hello"),
        (b"Transfer-Encoding: chunked", in_chunks([b"hel", b"lo"])),
        (b"Connection: close", b"hello"),
    ],
)
def test_a_body_ends_by_its_length_by_its_chunks_or_with_the_connection(head: bytes, body: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + body

    assert visit(answering(answer), get) == b"hello"


@pytest.mark.parametrize("head", [b"Content-Length: 9", b"Transfer-Encoding: chunked"])
def test_a_body_that_breaks_off_is_an_error_f20(head: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n5\r\nhell"

    with pytest.raises(httpx2.RemoteProtocolError):
        visit(answering(answer), get)


def test_an_answer_without_a_body_needs_none() -> None:
    head = h11.Response(status_code=204, headers=[])

    assert framing_of(head, method="POST").done
    assert visit(answering(b"HTTP/1.1 204 No Content\r\n\r\n"), get) == b""


def test_a_finished_connection_is_used_again_and_a_closing_one_is_not() -> None:
    whole, closing = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", b"Connection: close\r\n"
    seen: list[list[bytes]] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append([])
        await answering(whole + b"\r\nok", whole + closing + b"\r\nok", seen=seen[-1])(reader, writer)

    async def thrice(client: httpx2.AsyncClient, url: str) -> list[bytes]:
        return [await get(client, url) for _ in range(3)]

    assert visit(talk, thrice) == [b"ok"] * 3
    assert [len(connection) for connection in seen] == [2, 1]


def test_a_reply_that_is_left_early_takes_its_connection_along_t1() -> None:
    left = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")
        left.append(await reader.read())

    async def peek(client: httpx2.AsyncClient, url: str) -> bytes:
        async with client.stream("GET", url) as response:
            first = await anext(response.aiter_bytes())
        await asyncio.sleep(0.05)
        return first

    assert visit(talk, peek) == b"hi"
    assert left == [b""]


def test_a_server_that_floods_is_held_up_until_somebody_reads_f23() -> None:
    size, written = 64 * MAX_UNREAD_BYTES, []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(64):
            writer.write(b"x" * MAX_UNREAD_BYTES)
            await writer.drain()
            written.append(MAX_UNREAD_BYTES)

    async def wait_and_read(client: httpx2.AsyncClient, url: str) -> tuple[int, int]:
        async with client.stream("GET", url) as response:
            await asyncio.sleep(0.3)
            ahead = sum(written)
            return ahead, len(await response.aread())

    ahead, length = visit(talk, wait_and_read)

    assert ahead < size
    assert length == size


def test_a_server_that_is_not_there_cannot_be_reached_f17() -> None:
    async def dial() -> None:
        async with httpx2.AsyncClient(transport=StreamTransport()) as client:
            await client.get("http://127.0.0.1:1/")

    with pytest.raises(httpx2.ConnectError):
        submit(dial()).result(10)


def test_what_is_no_http_is_refused_with_a_protocol_error() -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        visit(answering(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), get)
