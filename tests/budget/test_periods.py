"""Budgets by day, week and month: told at the soft limit, paused at the hard one, on again by themselves (section 7)."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group
from django.core.checks import run_checks
from django.test import Client

from assistants import clock
from assistants.models import Budget, Thread, Turn
from assistants.turns import executors, periods
from assistants.turns.sweeper import sweep
from tests.kit.browsers import signed_in
from tests.kit.page import Page
from tests.kit.turns import commit_hooks, last_turn, replies, run_all

from .ledger import pay


@pytest.fixture
def time(monkeypatch):
    """The present moment, to be moved on: a Wednesday."""
    at = {"now": datetime(2026, 3, 11, 15, 0, tzinfo=UTC)}
    monkeypatch.setattr(clock, "now", lambda: at["now"])
    return at


def limit(ground, **fields: object) -> Budget:
    return Budget.objects.create(tenant=ground.apes, **({"scope": "tenant", "period": "day", "hard": 1000} | fields))


def had_spent(ground, tokens: int, *, owner=None, assistant=None) -> None:
    """A conversation that used so many tokens before."""
    thread = ground.open("Earlier", owner=owner, assistant=assistant)
    run_all()
    pay(last_turn(thread), tokens)


def ask(ground, **fields: object) -> Thread:
    thread = ground.open("Now", **fields)
    run_all()
    return thread


@pytest.mark.parametrize(
    ("period", "start", "end"),
    [("day", (3, 11), (3, 12)), ("week", (3, 9), (3, 16)), ("month", (3, 1), (4, 1))],
)
def test_a_period_begins_and_ends_at_midnight(time, period, start, end) -> None:
    assert periods.start_of(period, time["now"]) == datetime(2026, *start, tzinfo=UTC)
    assert periods.end_of(period, time["now"]) == datetime(2026, *end, tzinfo=UTC)


def test_a_period_follows_the_sites_own_clock_over_a_change_of_the_hour(settings) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    late = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)

    start, end = periods.start_of("day", late), periods.end_of("day", late)

    assert (start.isoformat(), end.isoformat()) == ("2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00")


def test_the_page_says_once_and_by_the_readers_clock_when_a_paused_turn_goes_on(ground, time) -> None:
    had_spent(ground, 5000)
    limit(ground)
    thread = ask(ground)

    page = Page(signed_in(ground.alice), thread)

    banner = page.at("state").find(_class="banner warn")
    said = " ".join(banner.text().split())
    assert said.startswith("The daily budget of the team, 1,000 tokens, is used up.")
    assert said.endswith("It goes on by itself at 00:00.")
    assert said.count("by itself") == 1 and "2026" not in said
    assert [part for part in banner.children if isinstance(part, str) and part.strip()] == []


def test_a_used_up_budget_pauses_the_turn_and_the_next_period_lets_it_go_on(ground, time) -> None:
    had_spent(ground, 5000)
    limit(ground)

    thread = ask(ground)

    turn = last_turn(thread)
    assert (turn.state, turn.reason) == (Turn.State.PAUSED, "limit:budget_period")
    assert turn.wake_at == datetime(2026, 3, 12, tzinfo=UTC)
    assert "daily budget of the team" in turn.note
    sweep()
    assert executors.rung == []
    time["now"] += timedelta(hours=10)
    sweep()
    run_all()
    assert last_turn(thread).state == Turn.State.DONE
    assert replies(thread)[-1] == "Hello from the lead."


def test_a_raised_budget_lets_the_turn_go_on_at_once(ground, time) -> None:
    had_spent(ground, 5000)
    budget = limit(ground)
    thread = ask(ground)

    budget.hard = 100_000
    budget.save()
    sweep()
    run_all()

    assert last_turn(thread).state == Turn.State.DONE


def test_each_scope_counts_its_own_and_nobody_elses(ground, time) -> None:
    other = ground.assistant("stock", script=["42"])
    group = Group.objects.create(name="Keepers")
    ground.bob.groups.add(group)
    had_spent(ground, 500, owner=ground.alice)
    had_spent(ground, 70, owner=ground.bob, assistant=other)
    made = {
        "tenant": limit(ground),
        "alice": limit(ground, scope="user", user=ground.alice),
        "keepers": limit(ground, scope="group", group=group),
        "stock": limit(ground, scope="assistant", assistant=other),
    }

    used = {name: periods.accounts([budget])[0].used for name, budget in made.items()}

    assert used["alice"] > 500 and used["keepers"] > 70
    assert used["tenant"] == used["alice"] + used["keepers"]
    assert used["stock"] == used["keepers"]


def test_another_users_budget_stops_nobody_else(ground, time) -> None:
    had_spent(ground, 5000, owner=ground.bob)
    limit(ground, scope="user", user=ground.bob)

    assert last_turn(ask(ground, owner=ground.alice)).state == Turn.State.DONE
    assert last_turn(ask(ground, owner=ground.bob)).reason == "limit:budget_period"


def test_of_two_used_up_budgets_the_one_that_ends_last_counts(ground, time) -> None:
    had_spent(ground, 5000)
    limit(ground)
    limit(ground, period="month")

    assert last_turn(ask(ground)).wake_at == datetime(2026, 4, 1, tzinfo=UTC)


def test_what_was_used_yesterday_does_not_count_today(ground, time) -> None:
    had_spent(ground, 5000)
    limit(ground)
    time["now"] += timedelta(days=1)

    assert last_turn(ask(ground)).state == Turn.State.DONE


def test_s29_fifty_turns_at_once_with_budget_for_one_overspend_by_one_call_at_most(ground, time) -> None:
    limit(ground, hard=10)
    threads = [ground.open(f"Question {number}") for number in range(50)]

    run_all(limit=400)
    commit_hooks()

    states = [last_turn(thread).state for thread in threads]
    assert states.count(Turn.State.DONE) == 1
    assert {last_turn(thread).reason for thread in threads if last_turn(thread).state == "paused"} == {"limit:budget_period"}


def test_a_soft_limit_is_shown_and_stops_nothing(ground, time) -> None:
    had_spent(ground, 5000)
    limit(ground, hard=None, soft=100)
    assert last_turn(ask(ground)).state == Turn.State.DONE
    client = Client()
    client.force_login(ground.alice)

    page = client.get("/budget/").content.decode()

    assert "The point is reached at which you are told." in page
    assert "Apes" in page


def test_nobody_sees_the_budget_of_another_person_or_team(ground, time) -> None:
    limit(ground, scope="user", user=ground.bob, hard=777_000)
    client = Client()
    for user, seen in ((ground.bob, True), (ground.alice, False), (ground.charlie, False)):
        client.force_login(user)
        assert ("777k" in client.get("/budget/").content.decode()) is seen


def test_a_budget_of_a_foreign_target_is_found_by_the_check(ground) -> None:
    limit(ground, scope="user", user=ground.charlie)
    limit(ground, scope="assistant")
    limit(ground, hard=None)

    found = {each.id for each in run_checks(tags=["assistants"])}

    assert found == {"assistants.E006", "assistants.W021", "assistants.W022"}
