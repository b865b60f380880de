"""What a socket is told goes to the kernel at once; what that does not take is sent when it takes more."""

import socket

import pytest
from daphne import server as _  # noqa: F401 - installs the reactor that the product runs on
from twisted.internet import reactor, tcp
from twisted.internet.protocol import Protocol

from assistants.management.patient import _written_at_once, unsent

SHORT, LONG = b"a frame", b"x" * 50_000_000


@pytest.fixture
def line():
    """A server's connection, and the reader's end of it."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    transport = tcp.Connection(ours, Protocol(), reactor)
    transport.connected = True
    yield transport, theirs
    reactor.removeWriter(transport)
    ours.close()
    theirs.close()


def test_a_frame_is_written_without_waiting_for_the_loop(line):
    transport, reader = line

    with _written_at_once(transport):
        transport.write(SHORT)
        transport.write(SHORT)

    assert reader.recv(100) == SHORT + SHORT
    assert transport not in reactor.getWriters()


def test_what_the_reader_does_not_take_waits_for_it(line):
    transport, reader = line

    with _written_at_once(transport):
        transport.write(LONG)

    assert 0 < unsent(transport) < len(LONG)
    assert transport in reactor.getWriters()


def test_a_connection_that_broke_is_left_to_the_loop(line):
    transport, reader = line
    reader.close()

    with _written_at_once(transport):
        transport.write(SHORT)

    assert transport in reactor.getWriters()
