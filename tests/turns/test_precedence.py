"""Threads that ask the database give way to the loop that carries all text, for a moment."""

import asyncio
import os
import threading
import time
from contextlib import closing

import pytest
from django.db import connection

from assistants import precedence
from assistants.desk import Desk
from assistants.models import User
from tests.kit.waiting import until


@pytest.fixture
def loop(monkeypatch):
    """A watched loop in a thread of its own; whoever waits for it does so for long enough to be seen."""
    monkeypatch.setattr(precedence, "PATIENCE", 5.0)
    with closing(asyncio.new_event_loop()) as loop:
        precedence.watch(loop)
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        yield loop
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
    precedence._at_work = None
    connection.execute_wrappers.clear()


def work_for(loop, seconds):
    """Keeps the loop at work; returns when it has begun."""
    begun = threading.Event()
    loop.call_soon_threadsafe(lambda: (begun.set(), time.sleep(seconds)))
    assert begun.wait(5)


def seconds_of(work):
    before = time.monotonic()
    work()
    return time.monotonic() - before


def test_a_statement_waits_until_the_loop_has_nothing_to_do(loop, db):
    work_for(loop, 0.3)

    assert 0.2 < seconds_of(User.objects.exists) < 4


def test_while_the_loop_waits_nobody_gives_way(loop, db):
    work_for(loop, 0.01)
    until(lambda: not precedence._at_work)

    assert seconds_of(User.objects.exists) < 0.2


def test_nobody_gives_way_for_ever(loop, db, monkeypatch):
    monkeypatch.setattr(precedence, "PATIENCE", 0.05)
    work_for(loop, 1)

    assert 0.05 <= seconds_of(User.objects.exists) < 0.5


def test_nobody_gives_way_while_people_stand_in_line(loop, db, monkeypatch):
    monkeypatch.setattr(precedence, "desk", desk := Desk(1, stuck=30))
    with desk.place():
        other = threading.Thread(target=lambda: desk.place().__enter__())
        other.start()
        until(lambda: desk.is_crowded)
        work_for(loop, 1)

        assert seconds_of(User.objects.exists) < 0.5
    other.join()


def test_the_loop_does_not_wait_for_itself(loop):
    async def ask():
        return seconds_of(precedence.give_way)

    assert asyncio.run_coroutine_threadsafe(ask(), loop).result(5) < 0.5


def test_nobody_waits_for_a_loop_that_has_stopped(loop):
    loop.call_soon_threadsafe(loop.stop)
    until(lambda: not loop.is_running())

    assert precedence._at_work and seconds_of(precedence.give_way) < 0.5


def test_a_forked_child_does_not_wait_for_its_parents_loop(loop):
    work_for(loop, 1)
    child = os.fork()
    if not child:
        os._exit(seconds_of(precedence.give_way) >= 0.5)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_loop_of_another_kind_is_left_alone():
    precedence.watch(object())
