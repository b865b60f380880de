"""Connections to providers: read on the loop's own transports, with and without TLS, and honest about how they ended."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpcore2
import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from assistants.llm import connections
from assistants.llm.network import MOST_UNREAD, Connection, Network

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Contexts = tuple[ssl.SSLContext, ssl.SSLContext]


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> Contexts:
    """One for the server, and one for a client that trusts it."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file: Path = tmp_path_factory.mktemp("tls") / "both.pem"
    encoding, private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file.write_bytes(key.private_bytes(encoding, private, serialization.NoEncryption()) + certificate.public_bytes(encoding))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(file)
    return serving, ssl.create_default_context(cafile=str(file))


def answering(head: bytes, *parts: bytes, pause: float = 0.0) -> Answer:
    """Answers each request of a connection with these bytes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            for part in (head, *parts):
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause)

    return answer


@asynccontextmanager
async def serving(answer: Answer, *, encrypted: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """The address of a server whose connections are all answered so, and that leaves nothing behind."""
    at_work: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        at_work.add(task)
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ssl.SSLError):
            await answer(reader, writer)
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    server = await asyncio.start_server(accept, "localhost", 0, ssl=encrypted)
    async with server:
        yield f"http{'s' if encrypted else ''}://localhost:{server.sockets[0].getsockname()[1]}/"
    for task in at_work:
        task.cancel()
    await asyncio.gather(*at_work, return_exceptions=True)


async def ask(answer: Answer, *, times: int = 1, contexts: Contexts | None = None, **timeouts: float) -> list[bytes]:
    """The bodies that so many requests over one pool got."""
    encrypted, trusting = contexts or (None, None)
    pool = httpcore2.AsyncConnectionPool(ssl_context=trusting, network_backend=Network())
    async with serving(answer, encrypted=encrypted) as url, pool:
        answers = [await pool.request("GET", url, extensions={"timeout": timeouts}) for _ in range(times)]
    assert all(isinstance(each.extensions["network_stream"], Connection) for each in answers)
    return [each.content for each in answers]


@pytest.mark.parametrize("encrypted", [False, True])
async def test_answers_are_read_whole_over_one_connection(encrypted: bool, contexts: Contexts) -> None:
    body = b"abcdefgh" * (MOST_UNREAD // 2)
    answer = answering(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body)

    assert await ask(answer, times=3, contexts=contexts if encrypted else None) == [body] * 3


async def test_a_word_is_there_before_the_next_one_is_sent() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    came: list[float] = []
    words = answering(head, *[b"1\r\nx\r\n"] * 3, b"0\r\n\r\n", pause=0.05)
    pool = httpcore2.AsyncConnectionPool(network_backend=Network())
    async with serving(words) as url, pool, pool.stream("GET", url) as answer:
        async for _ in answer.aiter_stream():
            came.append(asyncio.get_running_loop().time())

    assert len(came) == 3 and came[-1] - came[0] > 0.08


async def test_one_that_the_server_closed_is_not_used_again() -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        await writer.drain()

    assert await ask(once, times=3) == [b"x"] * 3


async def test_an_answer_that_breaks_off_is_an_error() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")
        await writer.drain()
        writer.transport.abort()

    with pytest.raises((httpcore2.RemoteProtocolError, httpcore2.ReadError)):
        await ask(half)


async def test_a_server_that_says_nothing_is_given_up() -> None:
    with pytest.raises(httpcore2.ReadTimeout):
        await ask(answering(b"", pause=5), read=0.05)


@pytest.mark.parametrize("url", ["http://localhost:1/", "http://a..b/", f"http://{'a' * 70}/"])
async def test_a_host_that_nobody_reaches_is_an_error(url: str) -> None:
    async with httpcore2.AsyncConnectionPool(network_backend=Network()) as pool:
        with pytest.raises(httpcore2.ConnectError):
            await pool.request("GET", url)


async def test_a_certificate_that_nobody_vouches_for_is_refused(contexts: Contexts) -> None:
    with pytest.raises(httpcore2.ConnectError, match="certificate verify failed"):
        await ask(answering(b""), contexts=(contexts[0], ssl.create_default_context()))


async def test_a_server_that_does_not_encrypt_is_refused() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(9)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()

    async with serving(refuse) as url, httpcore2.AsyncConnectionPool(network_backend=Network()) as pool:
        with pytest.raises(httpcore2.ConnectError):
            await pool.request("GET", url.replace("http:", "https:"), extensions={"timeout": {"connect": 0.5}})


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """None that the environment names, but hosts that would be asked without one."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("no_proxy", "elsewhere.example")


@pytest.mark.parametrize(("proxy", "own"), [("", True), ("http://127.0.0.1:9", False)])
@pytest.mark.usefixtures("no_proxies")
async def test_the_client_connects_so_unless_a_proxy_is_named(monkeypatch: pytest.MonkeyPatch, proxy: str, own: bool) -> None:
    if proxy:
        monkeypatch.setenv("http_proxy", proxy)
    connections.http_client.cache_clear()
    client = connections.http_client()
    try:
        async with serving(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")) as url, client:
            answer = await client.get(url)
            assert own and isinstance(answer.extensions["network_stream"], Connection)
    except httpx2.ConnectError:
        # The proxy was asked, and there is none.
        assert not own
    finally:
        connections.http_client.cache_clear()
