"""Sockets that open slowly are waited for, and what is sent to one that has just gone is dropped: nothing failed."""

import asyncio
import subprocess
import sys
from collections import deque

import pytest
from autobahn.exception import Disconnected
from autobahn.websocket.protocol import TrafficStats
from daphne.ws_protocol import WebSocketFactory
from twisted.internet.error import ConnectionLost
from websockets.sync.client import connect

from assistants.management.patient import PatientServer, PromptSocket

SAID = {"type": "websocket.send", "text": "Hello"}


class Socket:
    """As Daphne has it, with nothing that waits for its reader."""

    transport = None

    def __init__(self, error=None):
        self.error, self.sent, self.order = error, [], asyncio.Lock()

    def handle_reply(self, message):
        if self.error:
            raise self.error
        self.sent.append(message)


async def say(socket):
    server = PatientServer(application=None, endpoints=["tcp:0"])
    server.connections = {socket: {}}
    await server.handle_reply(socket, SAID)


async def test_a_socket_is_told():
    socket = Socket()

    await say(socket)

    assert socket.sent == [SAID]


async def test_one_that_is_gone_is_not_told_and_nobody_is_to_blame():
    await say(Socket(Disconnected("Attempt to send on a closed protocol")))


async def test_any_other_error_is_told():
    with pytest.raises(ValueError, match="no text"):
        await say(Socket(ValueError("no text")))


class Wire:
    """A connection of Twisted's whose kernel takes so many bytes, or says that it is lost."""

    def __init__(self, takes, waiting=b""):
        self.takes, self.kernel, self.connected, self.disconnecting = takes, b"", True, False
        # As Twisted has it: what waits for the kernel, how much of that is gone, and what was added lately.
        self.dataBuffer, self.offset, self._tempDataLen = waiting, 0, 0

    def writeSomeData(self, data):  # noqa: N802 - Twisted's
        if self.takes is None:
            return ConnectionLost()
        self.kernel += data[: self.takes]
        return len(data[: self.takes])

    def write(self, data):
        self.dataBuffer += data


def speak(wire):
    socket = WebSocketFactory(server_class=None).buildProtocol(None)
    # As after a handshake.
    socket.transport, socket.send_queue, socket.trafficStats = wire, deque(), TrafficStats()
    socket.state, socket.peer, socket.logOctets = PromptSocket.STATE_OPEN, "", False
    socket.sendData(b"Hello")
    return wire


@pytest.fixture
def _prompt(monkeypatch):
    monkeypatch.setattr(WebSocketFactory, "protocol", PromptSocket)


@pytest.mark.usefixtures("_prompt")
class TestAPromptSocket:
    """What it says is with the kernel when it has said it, whole and in its order."""

    def test_it_waits_for_nothing(self):
        wire = speak(Wire(takes=100))

        assert (wire.kernel, wire.dataBuffer) == (b"Hello", b"")

    def test_what_the_kernel_does_not_take_waits(self):
        wire = speak(Wire(takes=2))

        assert (wire.kernel, wire.dataBuffer) == (b"He", b"llo")

    def test_it_stands_behind_what_waits(self):
        wire = speak(Wire(takes=100, waiting=b"Once. "))

        assert (wire.kernel, wire.dataBuffer) == (b"", b"Once. Hello")

    def test_a_lost_connection_learns_of_it_where_it_always_does(self):
        wire = speak(Wire(takes=None))

        assert wire.dataBuffer == b"Hello"


# An application that takes longer to accept a socket than Daphne's library waits for an answer.
SLOW = """
import asyncio, socket
from daphne.server import twisted_loop
from assistants.management.patient import PatientServer

async def application(scope, receive, send):
    await receive()
    await asyncio.sleep(6)
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": "here"})
    await receive()

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
PatientServer(application=application, endpoints=[f"fd:fileno={listener.fileno()}"], signal_handlers=False).run()
"""


def test_a_socket_that_stands_in_line_for_longer_than_five_seconds_is_opened():
    with subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True) as server:
        try:
            with connect(f"ws://127.0.0.1:{server.stdout.readline().strip()}/", open_timeout=60) as socket:
                assert socket.recv(timeout=60) == "here"
        finally:
            server.kill()
