"""Quotes out of Markdown are shown without its marks, and lose no word by that."""

import time

import pytest

from subchats.research.unmarked import unmarked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A refund takes **5 working days** at *most*.", "A refund takes 5 working days at most."),
        ("**Repair.** It is ~~not~~ __free__, _really_.", "Repair. It is not free, really."),
        ("| hotel, per night | up to €110.00 | up to €150.00 |", "hotel, per night · up to €110.00 · up to €150.00"),
        ("| Expense | Germany |\n|---|---:|\n| meals | **€14** |\n| a \\| b |  |", "Expense · Germany\nmeals · €14\na | b"),
        ('See [Refunds](refunds.md) and ![a plan](p.png "Plan").', "See Refunds and a plan."),
        ("## Times\n> Five days.", "Times\nFive days."),
        ("Call `a**b**c` or `x_y_z | w`.", "Call a**b**c or x_y_z | w."),
        ("Set max_open_files and 2 * 3 * 4, a*b*c.", "Set max_open_files and 2 * 3 * 4, a*b*c."),
        ("It is \\*not\\* bold, and **half", "It is *not* bold, and **half"),
        ("1. Ask.\n2. Wait.\n- Go.", "1. Ask.\n2. Wait.\n- Go."),
        ("5 - 3 | 2 - 1", "5 - 3 | 2 - 1"),
    ],
)
def test_marks_go_and_words_stay(text: str, shown: str) -> None:
    assert unmarked(text) == shown


@pytest.mark.parametrize("piece", ["*", "**a", "[", "[a](", "`", "_a", "|-", "\\"])
def test_no_quote_takes_long(piece: str) -> None:
    started = time.process_time()
    unmarked(piece * (4000 // len(piece)))

    assert time.process_time() - started < 3
