"""Many calls at once, in threads of their own with real commits: never more than the cap and one call (P15, S29)."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from django.db import connection, connections, transaction

from assistants.models import Budget, SpendEntry, Turn
from assistants.turns import budget, periods
from tests.kit import turns

from .ledger import spent, used_by

pytestmark = pytest.mark.django_db(transaction=True)
ASKED, OUTPUT = 80, 400
CAP = 20_000
CALL = budget.with_margin(ASKED) + budget.with_margin(OUTPUT)

# As many calls below the top as the cap has room for, but for what is kept for the top's answer.
FIT = (CAP - 4000) // CALL


@pytest.fixture
def family(ground, tmp_path, monkeypatch) -> Iterator[tuple[Turn, list[Turn]]]:
    """A turn with fifty below it; of SQLite in a file, for the usual database of tests lies in memory and knows no waiting."""
    turns.forget()
    ground.lead.turn_tokens = CAP
    ground.lead.save()
    root = turns.last_turn(ground.open("Go"))
    children = [turns.last_turn(ground.open(f"Child {number}")) for number in range(50)]
    Turn.objects.filter(pk__in=[each.pk for each in children]).update(root=root)
    found = list(Turn.objects.filter(root=root).select_related("thread__tenant"))
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(tmp_path / "file.sqlite3")])
        # The copy has no log yet, and fifty that would give it one at the same moment do not wait for each other.
        with closing(sqlite3.connect(tmp_path / "file.sqlite3")) as copy:
            copy.execute("PRAGMA journal_mode=WAL")
        # Connections of other threads are made anew, and go there; this thread's stays where it is.
        monkeypatch.setitem(connections.settings["default"], "NAME", str(tmp_path / "file.sqlite3"))
    yield root, found


def at_once(work: Callable[[Turn], Any], each_of: list[Turn]) -> list[Any]:
    """Does the work for all of them, begun at the same moment, each in a thread with a connection of its own."""
    start = threading.Barrier(len(each_of))

    def alone(turn: Turn) -> Any:
        try:
            start.wait()
            return work(turn)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(each_of)) as pool:
        return list(pool.map(alone, each_of))


def ask(question: Callable[[], Any], root: Turn) -> Any:
    """What the file says."""
    return at_once(lambda _: question(), [root])[0]


def try_call(turn: Turn) -> Any:
    with transaction.atomic():
        return budget.reserve(turn, budget.standing_of(turn), asked=ASKED, output=OUTPUT)


def test_s29_fifty_that_reserve_at_once_get_no_more_than_there_is(family) -> None:
    root, children = family

    answers = at_once(try_call, children)

    permits = [each for each in answers if isinstance(each, budget.Permit)]
    held = ask(lambda: used_by(root), root)
    assert len(permits) == FIT
    assert set(answers) - set(permits) == {budget.Denied.WAIT}
    assert held == FIT * CALL <= CAP


def test_p15_fifty_that_reserve_use_and_settle_never_pass_the_cap_by_more_than_a_call(family) -> None:
    root, children = family

    def go(turn: Turn) -> int:
        for _ in range(40):
            permit = try_call(turn)
            if isinstance(permit, budget.Permit):
                with transaction.atomic():
                    budget.settle(permit, tokens=permit.reserved, cost=0)
                return 1
            if permit is budget.Denied.USED_UP:
                return 0
        return 0

    done = sum(at_once(go, children))

    assert ask(lambda: spent(root), root) <= ask(lambda: budget.cap_of(root), root)
    # The last one may be given the rest.
    assert done in (FIT, FIT + 1)
    assert ask(lambda: SpendEntry.objects.filter(root=root, settled=None).count(), root) == 0


def test_a_call_is_settled_only_once(family) -> None:
    root, children = family
    permit = ask(lambda: try_call(children[0]), root)

    at_once(lambda turn: budget.settle(permit, tokens=turn.pk, cost=0), children[:10])

    entries = ask(lambda: list(SpendEntry.objects.filter(root=root)), root)
    assert len(entries) == 1 and entries[0].tokens in [each.pk for each in children[:10]]


def test_s29_a_teams_last_tokens_are_taken_once_by_fifty_turns(family) -> None:
    root, children = family
    limit = ask(lambda: Budget.objects.create(tenant=root.thread.tenant, hard=10), root)

    def begin(turn: Turn) -> object:
        turn.root_id = None
        with transaction.atomic():
            standing = budget.standing_of(turn)
            if periods.blocking(turn):
                return None
            return budget.reserve(turn, standing, asked=ASKED, output=OUTPUT)

    answers = at_once(begin, children)

    assert sum(each is not None for each in answers) == 1
    assert ask(lambda: periods.accounts([limit])[0].is_used_up, root)
