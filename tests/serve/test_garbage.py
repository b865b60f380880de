"""The server looks for garbage among all objects when no reply is growing, or too much may have been left behind."""

import gc
import weakref
from uuid import uuid4

import pytest

from assistants import clock
from assistants.management.garbage import LATEST_SECONDS, MOST_CLOSED, THRESHOLDS, GarbageCollection
from assistants.open_pages import open_pages
from assistants.turns import live


class Cycle:
    def __init__(self):
        self.me = self


@pytest.fixture
def garbage(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    thresholds, enabled = gc.get_threshold(), gc.isenabled()
    found = GarbageCollection()
    found.settle()
    assert gc.get_threshold() == THRESHOLDS
    # Nothing is found but by the looks.
    gc.disable()
    found.now = now
    yield found
    gc.set_threshold(*thresholds)
    if enabled:
        gc.enable()


@pytest.fixture
def growing():
    reply = live.begin(1, 1, uuid4(), 1)
    yield reply
    live.end(reply)


def is_found_by(garbage):
    lost = weakref.ref(Cycle())
    garbage.look()
    return lost() is None


def test_garbage_is_found_when_nothing_grows(garbage):
    assert is_found_by(garbage)


def test_a_growing_reply_is_not_held_up(garbage, growing):
    garbage.now[0] += LATEST_SECONDS - 1

    assert not is_found_by(garbage)


def test_it_is_looked_for_in_any_case_after_a_while(garbage, growing):
    garbage.now[0] += LATEST_SECONDS

    assert is_found_by(garbage)
    assert not is_found_by(garbage)


def test_many_closed_pages_are_not_kept_for_long(garbage, growing):
    open_pages.gone += MOST_CLOSED

    assert is_found_by(garbage)
    assert not is_found_by(garbage)
