"""The one HTTP client for addresses that people and models name: it reaches the public internet and nothing else (D10)."""

import ipaddress
import logging
import re
import socket
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any

import httpcore2
import httpx2

from assistants import clock
from assistants.errors import CodedError

log = logging.getLogger(__name__)

REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_URL = 4096
# Written out, since the lists behind `is_global` differ between versions of Python.
_INSIDE = [
    ipaddress.ip_network(each)
    for each in """0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
    2001::/23 2001:db8::/32 2002::/16 3fff::/20""".split()
]
# What lies outside of it is local, multicast, or carries an IPv4 address inside.
_PUBLIC_V6 = ipaddress.ip_network("2000::/3")
_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.?")
# Other spellings of an IPv4 address: 2130706433, 0x7f.1, 127.1, 0177.0.0.1. All end in a number.
_NUMBER_AT_THE_END = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?\Z")


@dataclass(frozen=True)
class Limits:
    """Bounds of one fetch, redirects included. Times in seconds; a longer body is cut at `max_bytes`."""

    connect: float = 5.0
    total: float = 20.0
    max_bytes: int = 2 * 1024 * 1024
    max_redirects: int = 5
    ports: Collection[int] = frozenset({80, 443})


@dataclass(frozen=True)
class Fetched:
    """An answer. `url` is where the redirects ended, `content_type` the header as it came, `cut` says the body is longer."""

    url: str
    status: int
    content_type: str
    body: bytes
    cut: bool = False


def fetch(
    url: str, *, headers: Mapping[str, str] | None = None, limits: Limits | None = None, trusted: Collection[str] = frozenset()
) -> Fetched:
    """Gets what is at an address. Each hop is checked like the first one and gets no `headers` (S35).

    `trusted` names hosts, as an administrator set them, whose addresses are not checked. Raises `FETCH_FAILED`, the
    same one for whatever went wrong, so that nobody can feel their way through the network with it.
    """
    limits = limits or Limits()
    ends = clock.monotonic() + limits.total
    sent = dict(headers or {})
    try:
        for _ in range(limits.max_redirects + 1):
            target = _parse(url, limits)
            answer = _get(target, sent, limits=limits, ends=ends, trusted=trusted)
            if isinstance(answer, Fetched):
                return answer
            url, sent = str(target.join(_plain(answer))), {}
        raise _Refused("too many redirects")
    except (_Refused, httpx2.InvalidURL, zlib.error, UnicodeError, *_TROUBLE) as error:
        log.info("fetch failed: %s", error.args[0] if isinstance(error, _Refused) else type(error).__name__)
        raise CodedError(
            code="FETCH_FAILED",
            field="url",
            message="This address can't be fetched.",
            fix="Give the full http or https address of a public page on the usual port, or go on without it.",
        ) from None


_TROUBLE = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    httpcore2.ConnectionNotAvailable,
)


class _Refused(Exception):
    """Why an address is not fetched. Only the log says so."""


# --- the address -----------------------------------------------------------------------------------------------------
def _plain(url: str) -> str:
    """The text, if every parser reads the same in it: no blanks, control characters or backslashes."""
    if len(url) > MAX_URL or re.search(r"[\s\\\x00-\x20\x7f]", url):
        raise _Refused("an odd character in the address")
    return url


def _parse(url: str, limits: Limits) -> httpx2.URL:
    parsed = httpx2.URL(_plain(url))
    port = parsed.port or {"http": 80, "https": 443}.get(parsed.scheme)
    if port not in limits.ports or parsed.scheme not in ("http", "https"):
        raise _Refused("scheme or port")
    if parsed.userinfo or "@" in re.split(r"[/?#]", url.partition("//")[2], maxsplit=1)[0]:
        raise _Refused("a name or password in the address")
    host = parsed.raw_host.decode("ascii")
    if ":" not in host and not _is_dotted(host) and (_NUMBER_AT_THE_END.search(host) or not _NAME.fullmatch(host)):
        raise _Refused("no host name")
    return parsed


def _is_dotted(host: str) -> bool:
    try:
        return str(ipaddress.IPv4Address(host)) == host
    except ValueError:
        return False


def resolve(host: str, port: int, *, trusted: Collection[str] = frozenset()) -> list[str]:
    """The addresses of a host, all of them public: one that is not spoils the whole lookup. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if host not in trusted and not (addresses and all(is_public(address) for address in addresses)):
        raise PermissionError(f"{host} is not public")
    return addresses


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet, and neither to this machine nor to a network around it."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address) and (found not in _PUBLIC_V6 or found.scope_id):
        return False
    return found.is_global and not any(found in network for network in _INSIDE if network.version == found.version)


# --- the connection --------------------------------------------------------------------------------------------------
def _get(
    url: httpx2.URL, headers: Mapping[str, str], *, limits: Limits, ends: float, trusted: Collection[str]
) -> Fetched | str:
    """One hop: the answer, or where it leads on to."""
    target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    # No proxy, no cookies, no stored passwords: nothing of this machine goes out.
    sent = {"Host": url.netloc.decode("ascii"), "User-Agent": "TaskMonkey", "Accept": "text/html, text/*;q=0.9, */*;q=0.5"}
    sent |= {"Accept-Encoding": "identity", **headers}
    backend = _PinnedBackend(ends, trusted)
    timeout = {"connect": limits.connect, "read": limits.total, "write": limits.total, "pool": limits.connect}
    with (
        httpcore2.ConnectionPool(ssl_context=_tls(url), network_backend=backend) as pool,
        pool.stream("GET", target, headers=list(sent.items()), extensions={"timeout": timeout}) as response,
    ):
        told = {name.lower(): value for name, value in response.headers}
        if response.status in REDIRECTS and b"location" in told:
            return told[b"location"].decode("utf-8")
        body, cut = _read(response.iter_stream(), told.get(b"content-encoding", b""), limits.max_bytes)
    content_type = told.get(b"content-type", b"").decode("latin-1")
    return Fetched(url=str(url), status=response.status, content_type=content_type, body=body, cut=cut)


def _tls(url: httpx2.URL) -> SSLContext | None:
    return httpx2.create_ssl_context() if url.scheme == "https" else None


def _read(chunks: Iterable[bytes], encoding: bytes, limit: int) -> tuple[bytes, bool]:
    """The body up to the limit. What was packed is unpacked no further than that."""
    if encoding.strip().lower() not in (b"", b"identity", b"gzip", b"x-gzip", b"deflate"):
        raise _Refused("an unknown encoding")
    unpacker = zlib.decompressobj(wbits=47) if encoding.strip().lower() not in (b"", b"identity") else None
    body = bytearray()
    for chunk in chunks:
        body += unpacker.decompress(chunk, limit + 1 - len(body)) if unpacker else chunk
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


class _PinnedBackend(httpcore2.SyncBackend):
    """Connects to the very address that was checked. TLS still proves the name, which the pool knows it by."""

    def __init__(self, ends: float, trusted: Collection[str]) -> None:
        self._ends = ends
        self._trusted = trusted

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            addresses = resolve(host, port, trusted=self._trusted)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from error
        trouble: Exception = httpcore2.ConnectError("no address")
        for address in addresses[:4]:
            left = _left(self._ends, timeout)
            try:
                stream = super().connect_tcp(address, port, left, local_address, socket_options)
                return _TimedStream(stream, self._ends)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
        raise trouble


class _TimedStream(httpcore2.NetworkStream):
    """A connection that ends with its time: one byte now and then does not prolong it."""

    def __init__(self, stream: httpcore2.NetworkStream, ends: float) -> None:
        self._stream = stream
        self._ends = ends

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._ends, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._ends, timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, _left(self._ends, timeout)), self._ends)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(ends: float, timeout: float | None) -> float:
    left = ends - clock.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("the time is up")
    return left if timeout is None else min(left, timeout)
