"""A runner that died is told of before its lease has run out: on the page, on the cards above it, until somebody goes on."""

from datetime import timedelta

import pytest
from django.conf import settings

from assistants import clock
from assistants.models import Thread, Turn
from assistants.turns import claims, executors, hub
from assistants.turns.lookout import Lookout
from assistants.turns.sweeper import sweep
from tests.kit.browsers import signed_in
from tests.kit.page import Page
from tests.kit.turns import commit_hooks, last_turn, run_all
from tests.subchats.fan_outs import step

TOLD = "Nothing has been heard of this work for some seconds."


@pytest.fixture
def later(monkeypatch):
    """Moves the clock on by so many seconds; by itself it stands still."""
    moved, begun = [0.0], clock.now()
    monkeypatch.setattr(clock, "now", lambda: begun + timedelta(seconds=moved[0]))
    return lambda seconds: moved.__setitem__(0, moved[0] + seconds)


@pytest.fixture
def below(ground, later):
    """A sub-chat whose runner was killed a moment ago."""
    ground.assistant("stock", script=["Five."])
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}, "Done."])
    root = ground.open()
    step()
    child = Thread.objects.get(parent=root)
    claims.claim_turn(last_turn(child).pk, holder="dead:1")
    commit_hooks()
    executors.rung.clear()
    return child


def shown(ground, thread):
    page = Page(signed_in(ground.alice), thread)
    return page, [TOLD in page.at("log").text(), TOLD in page.at("state").text()]


def test_p4_two_missing_heartbeats_are_told_of_on_the_page_and_on_the_card_above(ground, below, later):
    later(settings.TASKMONKEY["HEARTBEAT_SECONDS"] * 2 - 1)
    assert shown(ground, below.parent)[1] == [False, False] and shown(ground, below)[1] == [False, False]

    later(2)

    above, told_above = shown(ground, below.parent)
    assert told_above == [True, False] and "being picked up again" in above.at("log").text()
    here, told_here = shown(ground, below)
    assert told_here == [False, True] and "being picked up again" in here.at("state").text()


def test_p4_an_open_page_learns_that_the_silence_is_over(ground, below, later):
    later(11)
    pages = [shown(ground, thread)[0] for thread in (below.parent, below)]

    sweep()
    run_all()
    for page in pages:
        page.poll()

    assert last_turn(below).attempt == 2
    assert not any(TOLD in page.at(part).text() for page in pages for part in ("log", "state"))
    assert "The server restarted" in pages[1].at("log").text()


def test_p4_a_take_over_is_an_event_of_its_own(ground, below, later):
    before = below.events.count()
    later(11)

    sweep()
    run_all()

    told = below.events.filter(kind="turn", number__gt=before).order_by("number").first()
    assert told is not None and told.payload["state"] == Turn.State.THINKING


def test_p4_a_process_that_watches_finds_the_silence_by_itself(ground, below, later, monkeypatch):
    woken = []
    monkeypatch.setattr(hub, "watched", lambda: [f"tree:{below.root_id}"])
    monkeypatch.setattr(hub, "wake", lambda topic: woken.append(topic))
    lookout = Lookout()
    lookout.look()
    woken.clear()

    lookout.look()
    at_first = list(woken)
    later(7)
    lookout.look()

    assert at_first == [] and woken == [f"tree:{below.root_id}"]
