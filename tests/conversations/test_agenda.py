"""An open page draws at a pace, and what is due within a moment in one go."""

import pytest

from assistants import clock
from assistants.agenda import DELAY, PACE, TOGETHER, Agenda


@pytest.fixture
def now(monkeypatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    return now


def test_what_is_due_within_a_moment_is_drawn_along(now):
    agenda = Agenda()
    agenda.add("panel")
    now[0] += DELAY["panel"] - TOGETHER / 2
    agenda.add("thread:1")
    assert agenda.take() == [], "nothing is drawn before its own time"

    now[0] += DELAY["thread"]

    assert agenda.take() == ["panel", "thread:1"] and agenda.seconds() is None


def test_the_list_and_the_panel_are_drawn_with_each_other(now):
    agenda = Agenda()
    for topic in ("user:1", "panel"):
        agenda.add(topic)
        now[0] += TOGETHER / 2
    now[0] = 100.0 + DELAY["user"]

    assert agenda.take() == ["user:1", "panel"]


def test_what_is_due_later_keeps_its_time(now):
    agenda = Agenda()
    agenda.add("thread:1")
    agenda.add("panel")
    now[0] += DELAY["thread"]

    assert agenda.take() == ["thread:1"]
    assert agenda.seconds() == pytest.approx(DELAY["panel"] - DELAY["thread"])


def test_a_look_follows_another_at_a_pace(now):
    agenda = Agenda()
    agenda.add("tree:1")
    assert agenda.take() == ["tree:1"]
    agenda.add("tree:1")
    agenda.add("tree:1")

    assert agenda.seconds() == pytest.approx(PACE["tree"]) and agenda.take() == []
    now[0] += PACE["tree"]
    assert agenda.take() == ["tree:1"] and agenda.take() == []
