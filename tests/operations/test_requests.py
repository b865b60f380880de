"""A request takes one thread, from its first middleware to its end: each way to a thread and back waits for the interpreter."""

import asyncio
import threading

import pytest
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.core.signals import request_finished, request_started

from taskmonkey.asgi import application
from taskmonkey.handlers import PageHandler, SiteHandler

HEADERS = [(b"host", b"localhost")]


@pytest.fixture
def threads():
    """The threads in which requests began and ended, in order."""
    seen: list[int] = []

    def note(**told):
        seen.append(threading.get_ident())

    request_started.connect(note)
    request_finished.connect(note)
    yield seen
    request_started.disconnect(note)
    request_finished.disconnect(note)


def scope(path, method="GET"):
    return {"type": "http", "method": method, "path": path, "headers": HEADERS, "query_string": b""}


def ask(path, app=application):
    """The answer as a server gets it: status, headers and body."""
    said = []

    async def send(message):
        said.append(message)

    asyncio.run(asyncio.wait_for(app(scope(path), one_request(), send), 10))
    body = b"".join(each.get("body", b"") for each in said)
    return said[0]["status"], dict(said[0]["headers"]), body


def one_request():
    """A request without a body, from somebody who stays."""
    came = iter([{"type": "http.request", "body": b""}])

    async def receive():
        return next(came, None) or await asyncio.Future()

    return receive


def test_a_page_is_made_in_one_thread_without_a_break(threads, monkeypatch):
    async def refused(self, *args, **kwargs):
        raise AssertionError("the request was handed from thread to thread")

    monkeypatch.setattr(SyncToAsync, "__call__", refused)

    status, _, _ = ask("/healthz")

    assert status == 200 and len(threads) == 2
    assert threads[0] == threads[1] != threading.get_ident()


def test_the_middleware_of_pages_works_as_ever():
    _, headers, _ = ask("/nowhere/")

    assert headers[b"X-Frame-Options"] == b"DENY" and headers[b"Cache-Control"] == b"private, no-store"


def test_a_file_is_served_by_the_loop(threads):
    file = settings.STATIC_ROOT / "probe.txt"
    file.write_text("served")
    try:
        # The one at hand has looked through the folder already.
        status, headers, body = ask("/static/probe.txt", SiteHandler())
    finally:
        file.unlink()

    assert (status, body) == (200, b"served") and headers[b"X-Content-Type-Options"] == b"nosniff"
    assert ask("/static/none.txt")[0] == 404


def test_whoever_leaves_before_the_end_of_their_request_costs_no_thread(threads):
    async def leave():
        came = iter([{"type": "http.request", "body": b"a", "more_body": True}, {"type": "http.disconnect"}])

        async def receive():
            return next(came)

        await PageHandler()(scope("/", "POST"), receive, None)

    asyncio.run(leave())

    assert threads == []
