"""The floor: upstream events to a websocket, no framework and no record: `python -m bench.relay PORT UPSTREAM`."""

import asyncio
import re
import sys
from typing import Any

from bench.loops import run
from bench.wire import CLOSE, PING, PONG, TEXT, accept, frame, read_frame

try:
    from orjson import dumps, loads
except ImportError:
    import json

    loads = json.loads

    def dumps(value: Any) -> bytes:
        """JSON in bytes, as the faster library writes it."""
        return json.dumps(value, separators=(",", ":")).encode()


KEY = re.compile(rb"(?im)^sec-websocket-key:\s*(\S+)")


class Call(asyncio.Protocol):
    """One streamed completion; what one read of the upstream's socket brings goes out as one write."""

    def __init__(self, request: bytes, out: asyncio.StreamWriter, done: "asyncio.Future[None]") -> None:
        self._request, self._out, self._done = request, out, done
        self._rest = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        frames = []
        for line in lines:
            if line.startswith(b"data: [DONE]"):
                frames.append(frame(b'{"done":true}'))
                self._transport.close()
                self._end(None)
            elif line.startswith(b"data: "):
                choices = loads(line[6:])["choices"]
                if text := choices and choices[0]["delta"].get("content"):
                    frames.append(frame(dumps({"t": text})))
        if frames:
            self._out.write(b"".join(frames))

    def connection_lost(self, error: Exception | None) -> None:
        self._end(error or ConnectionError("the upstream hung up"))

    def _end(self, error: Exception | None) -> None:
        if self._done.done():
            return
        if error:
            self._done.set_exception(error)
        else:
            self._done.set_result(None)


class Relay:
    """Takes {"text"} from a websocket and answers with {"t"} for every delta, then {"done"}."""

    def __init__(self, upstream: int) -> None:
        self._upstream = upstream

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if not (key := KEY.search(head)):
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nrelay")
                return
            upgrade = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            writer.write(upgrade + b"sec-websocket-accept: " + accept(key[1]) + b"\r\n\r\n")
            while True:
                opcode, payload = await read_frame(reader)
                if opcode == CLOSE:
                    return
                if opcode == PING:
                    writer.write(frame(payload, PONG))
                elif opcode == TEXT:
                    await self._answer(loads(payload)["text"], writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, text: str, writer: asyncio.StreamWriter) -> None:
        body = dumps({"model": "bench", "stream": True, "messages": [{"role": "user", "content": text}]})
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        await loop.create_connection(lambda: Call(head.encode() + body, writer, done), "127.0.0.1", self._upstream)
        await done


async def main(port: int, upstream: int) -> None:
    """Serves until it is ended."""
    server = await asyncio.start_server(Relay(upstream).serve, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    run(main(int(sys.argv[1]), int(sys.argv[2])))
