"""A site on loopback that serves what a test tells it, remembers who came, and can misbehave."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

Answer = bytes | Callable[[socket.socket], None]


def page(body: bytes, *, status: str = "200 OK", **headers: str) -> bytes:
    """A whole answer; header names with underscores for dashes."""
    lines = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return page(b"", status=status, Location=location)


class SmallSite:
    """Listens on one port of loopback, IPv4 and IPv6. `connections` counts who connected, `requests` what they said."""

    def __init__(self, wrap: Callable[[socket.socket], socket.socket] | None = None) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[str] = []
        self.connections = 0
        self._wrap = wrap
        self._listeners = [socket.create_server(("127.0.0.1", 0))]
        self.port = self._listeners[0].getsockname()[1]
        with suppress(OSError):
            self._listeners.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for listener in self._listeners:
            threading.Thread(target=self._accept, args=[listener], daemon=True).start()

    def url(self, path: str = "/", *, scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def stop(self) -> None:
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.settimeout(10)
            stream = self._wrap(connection) if self._wrap else connection
            with stream:
                data = b""
                while b"\r\n\r\n" not in data:
                    if not (chunk := stream.recv(65536)):
                        return
                    data += chunk
                self.requests.append(data.decode("latin-1"))
                answer = self.answers.get(self.requests[-1].split(" ")[1], page(b"not here", status="404 Not Found"))
                if callable(answer):
                    answer(stream)
                else:
                    stream.sendall(answer)
