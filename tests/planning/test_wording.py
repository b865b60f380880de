"""Which checks only say that something is done (J-05)."""

import pytest

from subchats.planning.wording import says_nothing

EMPTY = """done|Done.|It is done|it's done!|Step completed|step 3 is done|The task has been completed successfully
100 % complete|finished|OK|✓|…|everything works|The specialist has reported|A report was received
The answer is ready|results returned|all good
All steps are finished and correct|fertig|Erledigt!|Die Aufgabe ist erledigt|Schritt 2 abgeschlossen
Das Ergebnis wurde geliefert|Alles gut|c'est fait|listo|completed."""
TELLING = """One row per article with four numbers|at least five quoted tickets|Damage rate per carrier
names an owner and a date|The answer is 42|All tests are green|The report names the carrier
Done when three quotes are there|Zip file opens|12 rows
Der Bericht nennt drei Lieferanten|Eine Zahl je Woche|Die Mail ist beim Kunden|Every claim has a source
no open complaint left"""


def lines(text):
    return [each for line in text.splitlines() for each in line.split("|")]


@pytest.mark.parametrize("check", lines(EMPTY))
def test_j05_a_check_that_only_says_that_it_is_done_says_nothing(check):
    assert says_nothing(check)


@pytest.mark.parametrize("check", lines(TELLING))
def test_j05_a_check_with_something_to_see_is_taken(check):
    assert not says_nothing(check)


def test_j05_a_check_that_repeats_the_description_says_nothing():
    assert says_nothing("Count the returns", description="Count the returns.")
    assert says_nothing("Count the returns: done", description="Count the returns")
    assert not says_nothing("Count the returns per week", description="Count the returns")
