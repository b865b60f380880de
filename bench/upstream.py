"""A fake OpenAI-compatible server whose deltas carry their number and send time: `python -m bench.upstream PORT`."""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from bench.loops import run
from bench.marks import mark, now_us
from bench.wire import LENGTH

ORDER = re.compile(r"\s*bench ((?:\w+=\S+ ?)+)")
FILLER = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor "
# What comes between the deltas of a Markdown answer, one after every 25.
SHAPES = [
    "\n\n",
    "\n\n- ",
    "\n- ",
    "\n\n## ",
    "\n\n",
    "\n\n```python\nx = ",
    "\n```\n\n",
    "\n\n| a | b |\n|---|---|\n| ",
    " | x |\n\n",
]
WORKERS = ("one", "two", "three", "four")
# What makes a turn wait for somebody: a sub-chat that asks, a call that needs an approval, a question, a busy provider.
ASKS = {"question": "Which of the two?", "options": ["The first", "The second"]}
WAITS: dict[str, tuple[str, dict[str, Any]]] = {
    "child": ("invoke_assistant", {"assistant": "one", "task": "bench waits=question"}),
    "question": ("ask_clarifying_question", ASKS),
    "approval": ("current_time", {}),
}
BUSY = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n"


@dataclass(frozen=True)
class Order:
    """What an answer is to be: `n` deltas of `size` characters, the first after `first` ms, then one every `delay` ms."""

    n: int = 20
    size: int = 16
    delay: float = 0.0
    first: float = 0.0
    shape: str = "plain"
    rule: str = ""
    waits: str = ""
    calls: tuple[dict[str, Any], ...] = ()

    def text(self) -> str:
        """The user message that orders it."""
        return f"bench n={self.n} size={self.size} delay={self.delay:g} first={self.first:g} shape={self.shape}"


def read_order(body: dict[str, Any]) -> Order:
    """Reads the order out of a request: by its last user message, or by the model `fanout-<ms>-<children>`."""
    messages = body.get("messages", [])
    asked = next((_text(each) for each in reversed(messages) if each.get("role") == "user"), "")
    if body.get("model", "").startswith("fanout-"):
        floor, children = body["model"].split("-")[1:3]
        return _part_of_delegation(messages, asked, floor=float(floor), children=int(children))
    if not (found := ORDER.match(asked)):
        return Order()
    given = dict(pair.split("=", 1) for pair in found[1].split())
    kinds: dict[str, Callable[[str], Any]] = {"n": int, "size": int, "delay": float, "first": float, "shape": str, "waits": str}
    order = replace(Order(), **{name: kinds[name](value) for name, value in given.items() if name in kinds})
    if order.waits not in WAITS:
        return order
    name, arguments = WAITS[order.waits]
    return replace(order, n=0, rule=order.waits, calls=({"name": name, "arguments": arguments},))


def _part_of_delegation(messages: list[dict[str, Any]], asked: str, *, floor: float, children: int) -> Order:
    """Every call takes `floor` ms: one that plans, one that hands out the tasks, those that work, one that sums up.

    A single child is called without a plan.
    """
    if "TASK-" in asked:
        return Order(first=floor, rule="worker")
    results = sum(each.get("role") == "tool" for each in messages)
    tasks = [{"assistant": name, "task": f"TASK-{name}: look at part {name}"} for name in WORKERS[:children]]
    if children == 1:
        steps = [("hand out", "invoke_assistant", tasks[0])]
    else:
        planned = [{"description": f"Look at part {each}", "check": "One report", "specialist": each} for each in WORKERS]
        steps = [("plan", "write_plan", {"steps": planned}), ("hand out", "spawn_agents", {"tasks": tasks})]
    if results >= len(steps):
        return Order(first=floor, rule="sum up")
    rule, name, arguments = steps[results]
    return Order(n=0, first=floor, rule=rule, calls=({"name": name, "arguments": arguments},))


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


class Upstream:
    """Serves completions and, under `/log`, when each of them was asked for and ended (microseconds)."""

    def __init__(self) -> None:
        self.log: list[dict[str, Any]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one kept-alive connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                received = now_us()
                length = LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
                path = head.split(b" ", 2)[1].decode()
                if path.endswith("/chat/completions"):
                    await self._complete(json.loads(body), writer, received)
                else:
                    self._say(writer, self._lookup(path))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _lookup(self, path: str) -> Any:
        if path == "/log":
            log, self.log = self.log, []
            return log
        return {"object": "list", "data": [{"id": "bench", "object": "model"}]}

    @staticmethod
    def _say(writer: asyncio.StreamWriter, value: Any) -> None:
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)

    async def _complete(self, body: dict[str, Any], writer: asyncio.StreamWriter, received: int) -> None:
        order = read_order(body)
        entry = {"rule": order.rule, "received": received, "ended": 0, "tools": len(body.get("tools") or [])}
        self.log.append(entry)
        answer = Reply(order, body.get("model", "bench"), len(self.log), received)
        try:
            if order.waits == "pause":
                writer.write(BUSY)
            elif body.get("stream"):
                await answer.stream(writer)
            else:
                self._say(writer, answer.whole())
        finally:
            entry["ended"] = now_us()


class Reply:
    """One answer in the API's form."""

    def __init__(self, order: Order, model: str, number: int, received: int) -> None:
        self._order, self._received = order, received
        self._about = {"id": f"chatcmpl-{number}", "created": received // 1_000_000, "model": model}
        self._head = json.dumps({**self._about, "object": "chat.completion.chunk"})[:-1]

    def whole(self) -> dict[str, Any]:
        """The answer in one piece: a short text, as it is asked for when a conversation needs a name."""
        choice = {"index": 0, "message": {"role": "assistant", "content": "A short title"}, "finish_reason": "stop"}
        return {**self._about, "object": "chat.completion", "choices": [choice], "usage": self._usage()}

    async def stream(self, writer: asyncio.StreamWriter) -> None:
        """The answer as events, each delta at its own time."""
        order = self._order
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        start = self._received + order.first * 1000
        await _until(start)
        writer.write(self._chunk({"role": "assistant", "content": ""}))
        for number in range(order.n):
            await _until(start + number * order.delay * 1000)
            sent = now_us()
            text = json.dumps(self._text(number, sent))
            writer.write(_event(f'{self._head}, "choices":[{{"index":0,"delta":{{"content":{text}}},"finish_reason":null}}]}}'))
            if not order.delay or number % 8 == 0:
                await writer.drain()
        for number, call in enumerate(order.calls):
            function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            piece = {"index": number, "id": f"call_{number}", "type": "function", "function": function}
            writer.write(self._chunk({"tool_calls": [piece]}))
        writer.write(self._chunk({}, "tool_calls" if order.calls else "stop"))
        writer.write(
            _event(f'{self._head}, "choices":[],"usage":{json.dumps(self._usage())}}}') + _event("[DONE]") + b"0\r\n\r\n"
        )

    def _text(self, number: int, sent: int) -> str:
        order = self._order
        text = mark(number, sent, None if number else self._received) + " "
        missing = order.size - len(text)
        if missing > 0:
            text += (FILLER * (missing // len(FILLER) + 1))[: missing - 1] + " "
        if order.shape == "markdown" and number and number % 25 == 0:
            text = SHAPES[number // 25 % len(SHAPES)] + text
        return text

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event(f'{self._head}, "choices":[{json.dumps(choice)}]}}')

    def _usage(self) -> dict[str, int]:
        return {"prompt_tokens": 10, "completion_tokens": self._order.n, "total_tokens": 10 + self._order.n}


async def _until(moment: float) -> None:
    wait = (moment - now_us()) / 1e6
    if wait > 0:
        await asyncio.sleep(wait)


def _event(data: str) -> bytes:
    line = f"data: {data}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(line), line)


async def main(port: int) -> None:
    """Serves until it is ended."""
    server = await asyncio.start_server(Upstream().serve, "127.0.0.1", port, limit=8 << 20, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    run(main(int(sys.argv[1])))
