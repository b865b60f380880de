"""The steps of a stub model's reply, each a coroutine function that writes to the wire."""

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from assistants.llm.script import orders_in

EVENTS_PER_WRITE = 256
AUTOMATIC = "automatic"


class Wire:
    """One answer being written: server-sent events for a streamed request, else one JSON body.

    `framing` is "chunked" (as real servers do it) or "close" (the end of the body is the end of the connection, so a
    cut looks like a regular end).
    """

    def __init__(self, writer: asyncio.StreamWriter, body: Mapping[str, Any], *, framing: str) -> None:
        self.writer = writer
        self.body = body
        self.framing = framing
        self.streaming = bool(body.get("stream", True))
        self.opened = self.finished = self.ended = self.raw_sent = False
        self.calls = 0
        self.chars = 0
        self.usage: dict[str, int] | None = None
        self.message: dict[str, Any] = {"role": "assistant", "content": None}

    async def open(self, status: str = "200 OK", content_type: str = "text/event-stream", **headers: str) -> None:
        """Sends the head once."""
        if self.opened:
            return
        self.opened = True
        framing = {"transfer-encoding": "chunked"} if self.framing == "chunked" else {"connection": "close"}
        lines = {"content-type": content_type, **framing, **headers}
        head = f"HTTP/1.1 {status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
        self.writer.write(head.encode())
        await self.writer.drain()

    async def send(self, data: bytes) -> None:
        """Sends bytes of the body."""
        await self.open()
        if data:
            self.writer.write(b"%x\r\n%b\r\n" % (len(data), data) if self.framing == "chunked" else data)
            await self.writer.drain()

    async def delta(self, delta: Mapping[str, Any], *, finish: str | None = None, times: int = 1) -> None:
        """Sends the same delta some times, each as an event of its own; or notes it for a body in one piece."""
        self.chars += len(json.dumps(delta)) * times
        if not self.streaming:
            for _ in range(times):
                self._note(delta)
            return
        event = encode_event({"id": "stub", "object": "chat.completion.chunk", "model": "stub", "choices": [
            {"index": 0, "delta": dict(delta), "finish_reason": finish}]})  # fmt: skip
        for sent in range(0, times, EVENTS_PER_WRITE):
            await self.send(event * min(EVENTS_PER_WRITE, times - sent))

    async def end(self, finish: str | None) -> None:
        """Ends the answer as a good server does: the reason, the token counts, the end mark."""
        if self.ended:
            return
        self.ended = True
        if not self.streaming and not self.raw_sent:
            await self._send_whole(finish or ("tool_calls" if self.calls else "stop"))
            return
        if finish is None and not self.finished and not self.raw_sent:
            finish = "tool_calls" if self.calls else "stop"
        if finish and not self.finished:
            await self.delta({}, finish=finish)
        if not self.raw_sent or self.finished:
            if (self.body.get("stream_options") or {}).get("include_usage"):
                await self.send(encode_event({"id": "stub", "choices": [], "usage": self._usage()}))
            await self.send(b"data: [DONE]\n\n")
        await self.close_body()

    async def close_body(self) -> None:
        """Ends the body properly, whatever it held."""
        self.ended = True
        await self.open()
        if self.framing == "chunked":
            self.writer.write(b"0\r\n\r\n")
            await self.writer.drain()

    async def _send_whole(self, finish: str) -> None:
        choice = {"index": 0, "message": self.message, "finish_reason": finish}
        whole = {"id": "stub", "object": "chat.completion", "created": 1, "model": "stub", "choices": [choice]}
        await self.open(content_type="application/json")
        await self.send(json.dumps({**whole, "usage": self._usage()}).encode())
        await self.close_body()

    def _usage(self) -> dict[str, int]:
        counts = self.usage or {"prompt_tokens": len(json.dumps(self.body)) // 4, "completion_tokens": self.chars // 4}
        return {**counts, "total_tokens": sum(counts.values())}

    def _note(self, delta: Mapping[str, Any]) -> None:
        for key, value in delta.items():
            if key == "tool_calls":
                self.message.setdefault(key, []).extend(value)
            elif isinstance(value, str) and key != "role":
                self.message[key] = (self.message.get(key) or "") + value


Step = Callable[[Wire], Awaitable[None]]


def encode_event(data: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def say(text: str, n: int = 1, delay: float = 0) -> Step:
    """Says the text n times, each as one delta, with `delay` seconds behind each."""

    async def play(wire: Wire) -> None:
        if not delay:
            await wire.delta({"content": text}, times=n)
            return
        for _ in range(n):
            await wire.delta({"content": text})
            await asyncio.sleep(delay)

    return play


def delta(times: int = 1, **fields: Any) -> Step:
    """Sends a delta with any fields, such as reasoning=… or tool_calls=[…]."""

    async def play(wire: Wire) -> None:
        wire.calls += len(fields.get("tool_calls") or ())
        await wire.delta(fields, times=times)

    return play


def call(name: str | None, args: Any = "", id: str | None = AUTOMATIC, *, pieces: int = 1) -> Step:
    """Calls a tool; `args` is an object or raw text, sent in so many pieces. With id None the key is left out."""

    async def play(wire: Wire) -> None:
        text = args if isinstance(args, str) else json.dumps(args)
        number, wire.calls = wire.calls, wire.calls + 1
        entry: dict[str, Any] = {"index": number, "type": "function", "function": {"name": name, "arguments": text}}
        if id is not None:
            entry["id"] = f"call_{number}" if id == AUTOMATIC else id
        if pieces == 1 or not wire.streaming:
            await wire.delta({"tool_calls": [entry]})
            return
        size = -(-len(text) // pieces)
        await wire.delta({"tool_calls": [{**entry, "function": {"name": name, "arguments": ""}}]})
        for start in range(0, len(text), size):
            piece = {"index": number, "function": {"arguments": text[start : start + size]}}
            await wire.delta({"tool_calls": [piece]})

    return play


def usage(prompt: int, completion: int) -> Step:
    """Sets the token counts that the end of the answer reports."""

    async def play(wire: Wire) -> None:
        wire.usage = {"prompt_tokens": prompt, "completion_tokens": completion}

    return play


def finish(reason: str) -> Step:
    """Sends the finish reason; the token counts and [DONE] follow when no other step does."""

    async def play(wire: Wire) -> None:
        if wire.streaming:
            await wire.delta({}, finish=reason)
            wire.finished = True
        else:
            await wire.end(reason)

    return play


def raw(data: bytes, content_type: str = "text/event-stream") -> Step:
    """Sends bytes as they are, in one piece; the answer then ends only as far as it was ended by hand."""

    async def play(wire: Wire) -> None:
        wire.raw_sent = True
        await wire.open(content_type=content_type)
        await wire.send(data)

    return play


def status(code: int, headers: Mapping[str, str] | None = None, body: Any = "") -> Step:
    """Answers with an HTTP error; `body` is text, bytes or an object that is sent as JSON."""

    async def play(wire: Wire) -> None:
        is_json = not isinstance(body, str | bytes)
        data = json.dumps(body).encode() if is_json else body.encode() if isinstance(body, str) else body
        await wire.open(f"{code} Stub", "application/json" if is_json else "text/html", **dict(headers or {}))
        await wire.send(data)
        await wire.close_body()

    return play


def sleep(seconds: float) -> Step:
    """Says nothing for a while."""

    async def play(wire: Wire) -> None:
        await asyncio.sleep(seconds)

    return play


def never() -> Step:
    """Says nothing for ever, not even a head."""

    async def play(wire: Wire) -> None:
        await asyncio.Event().wait()

    return play


def rst() -> Step:
    """Resets the connection."""

    async def play(wire: Wire) -> None:
        await asyncio.sleep(0.02)
        wire.ended = True
        connection = wire.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.writer.transport.abort()

    return play


def half_close() -> Step:
    """Ends the sending side without ending the answer, and stays connected."""

    async def play(wire: Wire) -> None:
        await wire.open()
        wire.ended = True
        wire.writer.write_eof()
        await asyncio.Event().wait()

    return play


def echo_orders(otherwise: str = "There is no order left.") -> Step:
    """The gullible model: obeys every `CALL tool {json}` found in the last tool result, else in the user's text."""

    async def play(wire: Wire) -> None:
        messages = wire.body.get("messages") or [{}]
        orders = orders_in(_content(messages[-1]))
        for order in orders:
            await call(order.name, order.arguments)(wire)
        if not orders:
            await wire.delta({"content": otherwise})

    return play


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
