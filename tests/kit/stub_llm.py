"""A stub model server that speaks like OpenAI on loopback and answers by script, with every fault a server can have."""

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assistants.llm.profile import Profile, TimeLimits
from tests.kit.stub_steps import (
    Step,
    Wire,
    call,
    delta,
    echo_orders,
    encode_event,
    finish,
    half_close,
    never,
    raw,
    rst,
    say,
    sleep,
    status,
    usage,
)

__all__ = [
    "StubLLM", "StubRequest", "call", "delta", "echo_orders", "encode_event", "finish", "half_close", "never", "raw", "rst",
    "say", "sleep", "status", "usage",
]  # fmt: skip

KEY = "sk-CANARY-0123456789"
WATCH_SECONDS = 0.01


@dataclass
class StubRequest:
    """One request as it came in. Times are monotonic seconds; `disconnected_at` is set when the client left early."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float
    disconnected_at: float | None = None
    ended_at: float | None = None

    def messages(self, role: str) -> list[str]:
        """The texts of the messages with this role."""
        found = (message for message in self.body.get("messages", ()) if message.get("role") == role)
        return [_text(message.get("content")) for message in found]

    @property
    def system(self) -> str:
        return "\n".join(self.messages("system") + self.messages("developer"))

    @property
    def user(self) -> str:
        return (self.messages("user") or [""])[-1]

    @property
    def results(self) -> list[str]:
        """The tool results since the last user message."""
        results: list[str] = []
        for message in self.body.get("messages", ()):
            if message.get("role") == "user":
                results = []
            elif message.get("role") == "tool":
                results.append(_text(message.get("content")))
        return results

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]


@dataclass
class Scripts:
    """Replies in order, then one that is given for ever; chosen for the requests that fit all given conditions."""

    user: str | None = None
    system: str | None = None
    result: str | None = None
    results: int | None = None
    tool: str | None = None
    _queue: deque[Sequence[Step]] = field(default_factory=deque)
    _forever: Sequence[Step] | None = None

    def script(self, *replies: Sequence[Step]) -> "Scripts":
        """Sets the replies, one list of steps for each request; drops what was left."""
        self._queue, self._forever = deque(replies), None
        return self

    def script_forever(self, reply: Sequence[Step]) -> "Scripts":
        """Sets the reply to every further request."""
        self._queue, self._forever = deque(), reply
        return self

    def fits(self, request: StubRequest) -> bool:
        """Says whether these replies are meant for the request."""
        last = (request.results or [""])[-1]
        texts = ((self.user, request.user), (self.system, request.system), (self.result, last))
        return (
            all(wanted is None or wanted in found for wanted, found in texts)
            and (self.results is None or self.results == len(request.results))
            and (self.tool is None or self.tool in request.tools)
        )

    def next(self) -> Sequence[Step] | None:
        """Takes the next reply; None when there is none left."""
        return self._queue.popleft() if self._queue else self._forever


class StubLLM:
    """The server, in a thread of its own on a free port. Use it as a context manager, or start() and stop() it."""

    def __init__(self, *, framing: str = "chunked", models: Sequence[str] = ("stub",)) -> None:
        self.framing = framing
        self.models = models
        self.requests: list[StubRequest] = []
        self.port = 0
        self._rules: list[Scripts] = []
        self._default = Scripts()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stub-llm", daemon=True)

    def __enter__(self) -> "StubLLM":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> "StubLLM":
        """Begins to listen; gives itself."""
        self._thread.start()
        serving = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop)
        self._server = serving.result(60)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def stop(self) -> None:
        """Closes every connection and ends the thread."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    @property
    def url(self) -> str:
        """The base URL for a profile."""
        return f"http://127.0.0.1:{self.port}/v1"

    def profile(self, *, limits: TimeLimits | None = None, **changes: Any) -> Profile:
        """A profile that points here, with a key that must turn up nowhere."""
        values = {"provider": "openai", "model": "stub", "base_url": self.url, "api_key": KEY, **changes}
        return Profile(**values, limits=limits or TimeLimits(connect=30, first_token=30, idle=30, total=60))

    def script(self, *replies: Sequence[Step]) -> None:
        """Sets the replies to requests that no rule fits: one list of steps for each request, in order."""
        self._default.script(*replies)

    def script_forever(self, reply: Sequence[Step]) -> None:
        """Sets the reply to every request that no rule fits."""
        self._default.script_forever(reply)

    def when(self, **conditions: Any) -> Scripts:
        """Adds a rule, tried before the default and after the rules that are there: user=, system=, result= must be
        contained, results= is the number of tool results since the user's last message, tool= must be offered."""
        self._rules.append(Scripts(**conditions))
        return self._rules[-1]

    def clear(self) -> None:
        """Forgets rules, scripts and requests."""
        self._rules.clear()
        self._default = Scripts()
        self.requests.clear()

    def _reply_to(self, request: StubRequest) -> Sequence[Step]:
        for rule in (*self._rules, self._default):
            if rule.fits(request) and (steps := rule.next()) is not None:
                return steps
        return [status(400, body={"error": {"message": "the stub has no script left for this request"}})]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read_request(reader)) is not None:
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, request: StubRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Plays one reply; says whether the connection can take another request."""
        wire = Wire(writer, request.body, framing=self.framing)
        if request.path.endswith("/models"):
            await wire.open(content_type="application/json")
            await wire.send(json.dumps({"object": "list", "data": [{"id": name} for name in self.models]}).encode())
            await wire.close_body()
            return self.framing == "chunked"
        self.requests.append(request)
        playing = asyncio.ensure_future(_play(wire, self._reply_to(request)))
        watching = asyncio.ensure_future(_until_left(reader))
        done, waiting = await asyncio.wait({playing, watching}, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        if playing in done and playing.exception() is None:
            request.ended_at = time.monotonic()
            return self.framing == "chunked" and not writer.is_closing()
        request.disconnected_at = time.monotonic()
        return False

    async def _close(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _play(wire: Wire, steps: Sequence[Step]) -> None:
    for step in steps:
        await step(wire)
        if wire.ended:
            return
    await wire.end(None)


async def _until_left(reader: asyncio.StreamReader) -> None:
    """Ends when the client has closed the connection."""
    while not reader.at_eof() and reader.exception() is None:
        await asyncio.sleep(WATCH_SECONDS)


async def _read_request(reader: asyncio.StreamReader) -> StubRequest | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    try:
        body: Mapping[str, Any] = json.loads(data) if data else {}
    except ValueError:
        body = {}
    return StubRequest(first.split(" ")[1], headers, dict(body), time.monotonic())


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content if isinstance(content, str) else ""
