"""`manage.py sweep` does one round of the sweeper and says what changed."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from assistants import clock
from assistants.models import Turn
from assistants.turns import executors
from tests.kit.sealed import call
from tests.kit.turns import commit_hooks, forget, run_all


@pytest.fixture(autouse=True)
def open_again():
    """The command closes its own process for turns; the tests go on in theirs."""
    yield
    executors._closing.clear()


def swept() -> str:
    out = StringIO()
    call_command("sweep", stdout=out)
    return out.getvalue()


def test_a_round_that_finds_nothing_says_so(ground):
    assert swept() == "0 turns can go on and nobody runs them.\n"


def test_a_turn_whose_runner_died_is_named_as_one_that_can_go_on(ground):
    ground.open("Hello")
    Turn.objects.update(lease_until=clock.now() - timedelta(seconds=1), holder="dead:1")

    assert swept() == "1 turn can go on and nobody runs it.\n"


def test_a_turn_that_slept_although_its_calls_were_settled_is_woken(ground):
    ask = call("ask_clarifying_question", question="Which?", options=["Red", "Blue"])
    ground.script([{"calls": [ask]}, "Red it is."])
    thread = ground.open("Paint it")
    run_all()
    Turn.objects.update(state="waiting")
    forget()

    out = swept()
    commit_hooks()

    assert out.splitlines()[0] == f"turn {thread.turns.get().pk}: waiting → thinking"
    assert out.splitlines()[1] == "1 turn can go on and nobody runs it."
