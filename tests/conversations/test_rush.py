"""While people wait for their turn, drawings wait too; whether somebody may still look is asked all the same."""

import threading
from contextlib import contextmanager

from assistants import agenda as agendas
from assistants import clock
from assistants.agenda import ACCESS, RUSH_LOOK, RUSH_SECONDS, Agenda
from assistants.desk import Desk
from tests.kit.waiting import until


@contextmanager
def somebody_waits(desk):
    with desk.place():
        other = threading.Thread(target=lambda: desk.place().__enter__())
        other.start()
        until(lambda: desk.is_crowded)
        yield
    other.join()


def test_drawings_wait_for_those_who_wait_but_not_for_ever(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    monkeypatch.setattr(agendas, "desk", desk := Desk(1, stuck=30))
    agenda = Agenda()
    for topic in ("thread:1", ACCESS):
        agenda.add(topic)
    now[0] += 0.1

    with somebody_waits(desk):
        assert agenda.take() == [ACCESS]
        assert agenda.seconds() == RUSH_LOOK
        now[0] += RUSH_SECONDS
        assert agenda.take() == ["thread:1"]


def test_drawings_go_on_when_the_rush_is_over(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    agenda = Agenda()
    agenda.add("thread:1")
    now[0] += 0.1

    assert agenda.seconds() == 0 and agenda.take() == ["thread:1"]
