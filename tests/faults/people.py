"""A person's browser, as far as HTTP and the socket go: sends, retries what nobody knows of, and follows events."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

if TYPE_CHECKING:
    from tests.faults.cluster import Cluster

ONE_USE = httpx2.Limits(max_keepalive_connections=0)

# For how long a page may be told that the store is busy, after connections to it were cut.
BUSY_SECONDS = 6.0


class Client:
    """One person. `acknowledged` holds each key whose send was accepted, `unknown` those that nobody knows of."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster, self.name = cluster, name
        self.token = uuid.uuid4().hex
        self.acknowledged: dict[str, str] = {}
        self.unknown: dict[str, tuple[str, dict[str, Any]]] = {}
        cookies = {"sessionid": cluster.sessions[name], "csrftoken": self.token}
        headers = {"X-CSRFToken": self.token, "HX-Request": "true"}
        self._http = httpx2.Client(
            base_url=cluster.url, cookies=cookies, headers=headers, limits=ONE_USE, timeout=45, trust_env=False
        )

    def get(self, path: str, **query: Any) -> httpx2.Response:
        return self._http.get(path, params=query)

    def post(self, path: str, **data: Any) -> httpx2.Response | None:
        """Sends a command; None when the server died meanwhile, so that nobody knows whether it was accepted."""
        with suppress(httpx2.HTTPError):
            return self._http.post(path, data=data)
        return None

    def open(self, text: str, key: str, assistant: str = "lead") -> str | None:
        """Starts a conversation; its chat id, or None when the answer was lost."""
        answer = self.try_to_open(text, key, assistant)
        if answer is None:
            return None
        assert answer.status_code == 204, (answer.status_code, answer.text)
        return str(answer.headers["HX-Redirect"].strip("/").split("/")[-1])

    def try_to_open(self, text: str, key: str, assistant: str = "lead") -> httpx2.Response | None:
        """Starts a conversation; the answer as it came."""
        found = self.cluster.rows("select id from assistants_assistant where slug = ?", assistant)[0]["id"]
        return self._send("/c/", key, assistant=found, text=text)

    def send_or_open(self, text: str, key: str) -> None:
        """Starts a conversation, and again with the same key as long as the answer says that it may work then."""
        for _ in range(20):
            answer = self.try_to_open(text, key)
            if answer is None or answer.status_code == 204:
                return
            assert answer.status_code >= 500, (answer.status_code, answer.text)
            time.sleep(0.3)
        raise AssertionError(f"refused for good: {answer.status_code if answer else None}")

    def send(self, chat: str, text: str, key: str, **more: Any) -> httpx2.Response | None:
        """Says something in a conversation."""
        return self._send(f"/c/{chat}/send/", key, text=text, **more)

    def _send(self, path: str, key: str, **data: Any) -> httpx2.Response | None:
        answer = self.post(path, key=key, **data)
        if answer is None:
            self.unknown[key] = (path, data)
        elif answer.status_code < 300:
            self.acknowledged[key] = data["text"]
            self.unknown.pop(key, None)
        return answer

    def retry_unknown(self) -> None:
        """Sends again what nobody knows of, with the same keys, as the page does."""
        for key, (path, data) in list(self.unknown.items()):
            self._send(path, key, **data)
        assert not self.unknown, "a retry was not answered either"

    def events(self, chat: str, after: object) -> dict[str, Any]:
        """What a page without a socket asks for."""
        end = time.monotonic() + BUSY_SECONDS
        answer = self.get(f"/c/{chat}/events/", after=after)
        while answer.status_code == 503 and time.monotonic() < end:
            # As the page does, which asks again every two seconds.
            time.sleep(0.5)
            answer = self.get(f"/c/{chat}/events/", after=after)
        assert answer.status_code == 200, answer.status_code
        return dict(answer.json())

    def follow(self, chat: str, after: object = 0, **options: Any) -> Page:
        return Page(self, chat, after, **options)


class Page:
    """An open conversation: its socket, the events it has seen, and how the socket was closed in the end."""

    def __init__(self, client: Client, chat: str, after: object = 0, **options: Any) -> None:
        self.numbers: list[int] = []
        self.frames: list[dict[str, Any]] = []
        self.closed: int | None = None
        address = client.cluster.url.replace("http", "ws") + f"/ws/c/{chat}/?after={after}"
        headers = {"Cookie": f"sessionid={client.cluster.sessions[client.name]}", "Origin": client.cluster.url}
        # Without pings of its own: a reader who is stuck is to be found out by the server.
        options = {"max_size": None, "proxy": None, "ping_interval": None, **options}
        opened = connect(address, additional_headers=headers, **options)
        self.socket: ClientConnection = opened.__enter__()

    def read(self, within: float) -> dict[str, Any] | None:
        """The next frame; None when none came in time or the socket is closed."""
        try:
            frame: dict[str, Any] = json.loads(self.socket.recv(timeout=max(within, 0.001)))
        except TimeoutError:
            return None
        except ConnectionClosed as end:
            self.closed = end.rcvd.code if end.rcvd else 1006
            return None
        self.frames.append(frame)
        if number := frame.get("n"):
            self.numbers.append(number)
        return frame

    def read_for(self, seconds: float) -> Iterator[dict[str, Any]]:
        """The frames of the next seconds, until the socket is closed."""
        end = time.monotonic() + seconds
        while self.closed is None and (left := end - time.monotonic()) > 0:
            if frame := self.read(left):
                yield frame

    def sees(self, words: str, within: float) -> bool:
        """Whether the words come down in time, in an event or as growing text."""
        return any(words in frame.get("html", "") + frame.get("h", "") for frame in self.read_for(within))

    @property
    def cursor(self) -> int:
        return self.numbers[-1] if self.numbers else 0

    def drop(self) -> None:
        """The network is gone, without a word of farewell."""
        self.socket.socket.close()
        with suppress(Exception):
            self.socket.close()
