"""What is sent to a socket that has just gone is dropped: nothing failed, and there is nothing for anybody to look into."""

import pytest
from autobahn.exception import Disconnected

from assistants.management.patient import PatientServer

SAID = {"type": "websocket.send", "text": "Hello"}


class Socket:
    """As Daphne has it, with nothing that waits for its reader."""

    transport = None

    def __init__(self, error=None):
        self.error, self.sent = error, []

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
