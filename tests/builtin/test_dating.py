"""The engine dates a quote by what its document says of itself, and by nothing else (A-44)."""

import pytest

from assistants.llm.builtin.dating import dated
from assistants.llm.builtin.passages import Passage


def said_in(text: str, line: int, *, document: str = "plant/manual.md", first: int = 1) -> tuple[str, str] | None:
    last = first + text.count("\n")
    found = dated(document, line, [Passage(document, text, first_line=first, last_line=last, counted=True)])
    return (found.status, found.day) if found else None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("As of Friday, 20 November 2026 (week 47), after the last pick-up:", ("asOf", "2026-11-20")),
        ("Stand: 14. März 2026", ("asOf", "2026-03-14")),
        ("Stand vom 01.02.2026", ("asOf", "2026-02-01")),
        ("**Last updated:** 2026-02-28", ("updatedAt", "2026-02-28")),
        ("> Zuletzt geändert am 3. Mai 2026", ("updatedAt", "2026-05-03")),
        ("Created on March 3, 2026 by Ana", ("createdAt", "2026-03-03")),
        ("Last updated: 2026-02-30", None),
        ("Standard 2026-01-01", None),
        ("Stand der Technik ist die Norm vom 01.01.2026", None),
        ("Updated 3 entries on 2026-01-01", None),
        ("The pump was updated on 2026-01-01", None),
        ("Date: 2026-01-01", None),
        ("As of " + "x" * 200 + " 2026-01-01", None),
    ],
)
def test_a44_a_line_that_says_of_when_the_words_are_dates_them(line: str, told: tuple[str, str] | None) -> None:
    assert said_in(f"# Manual\n{line}\n\nThe fan is cleaned twice a year.", 4) == told


def test_a44_the_nearest_line_above_counts_and_none_below() -> None:
    text = "As of 2025-01-01\nOne.\nAs of 2026-01-01\nTwo.\nAs of 2027-01-01"

    assert [said_in(text, line) for line in (2, 4)] == [("asOf", "2025-01-01"), ("asOf", "2026-01-01")]
    assert said_in(text, 12, first=11) == ("asOf", "2025-01-01")
    assert said_in(text, 2, first=11) is None
    other = Passage("plant/other.md", text, first_line=1, last_line=5, counted=True)
    assert dated("plant/manual.md", 4, [other]) is None


def test_a44_mails_and_heads_of_settings_name_their_date_as_they_do() -> None:
    head = "---\ntitle: Manual\ndate: 2026-03-14\n---\nThe fan is cleaned."
    mail = "From: Ana\nDate: Tue, 03 Nov 2026 09:12:00 +0100\n\nThe crane comes.\n\n<!-- attached message 1 -->\n"
    mail += "Date: Mon, 2 Nov 2026\n\nIt is late."

    assert said_in(head, 5) == ("createdAt", "2026-03-14")
    assert [said_in(mail, line, document="mail/crane.EML") for line in (4, 9)] == [
        ("createdAt", "2026-11-03"),
        ("createdAt", "2026-11-02"),
    ]
