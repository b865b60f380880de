"""The floor: upstream events to a websocket, no framework and no record: `python -m bench.relay PORT UPSTREAM`."""

import asyncio
import re
import sys

from bench import deltas
from bench.deltas import dumps, loads
from bench.loops import run
from bench.wire import CLOSE, PING, PONG, TEXT, accept, frame, read_frame

KEY = re.compile(rb"(?im)^sec-websocket-key:\s*(\S+)")
DONE = frame(b'{"done":true}')
# A message box, and every delta appended as it comes: the least that a page can do with a stream.
PAGE = b"""<!doctype html><title>relay</title><textarea id="text"></textarea><pre id="answer"></pre><script>
const box = document.getElementById("text"), answer = document.getElementById("answer");
const socket = new WebSocket(`ws://${location.host}/`);
socket.onmessage = ({data}) => answer.append(JSON.parse(data).t || "");
box.onkeydown = (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  socket.send(JSON.stringify({text: box.value}));
};
</script>"""


class Relay:
    """Takes {"text"} from a websocket and answers with {"t"} for every delta, then {"done"}."""

    def __init__(self, upstream: int) -> None:
        self._upstream = upstream

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if not (key := KEY.search(head)):
                about = f"content-type: text/html\r\ncontent-length: {len(PAGE)}\r\nconnection: close\r\n\r\n"
                writer.write(b"HTTP/1.1 200 OK\r\n" + about.encode() + PAGE)
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
        def take(texts: list[str]) -> None:
            writer.write(b"".join(frame(dumps({"t": each})) for each in texts))

        await deltas.read(self._upstream, text, take)
        writer.write(DONE)


async def main(port: int, upstream: int) -> None:
    """Serves until it is ended."""
    server = await asyncio.start_server(Relay(upstream).serve, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    run(main(int(sys.argv[1]), int(sys.argv[2])))
