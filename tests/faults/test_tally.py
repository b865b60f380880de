"""The page of promises: one that is measured anew changes its own row, and says by what."""

from tests.faults.tally import Tally


def lines_of(page: str, name: str) -> list[str]:
    return [line for line in page.splitlines() if f"| {name} |" in line or line.startswith(f"- {name}:")]


def test_a_promise_measured_anew_leaves_the_others_alone():
    long = Tally()
    long.count("P1", "sends accepted and found", 12_000)
    long.time("P11", "to the end of the socket, embedded:", 7.0)
    page = long.page(command="make faults", seconds=3600, load=1.0)
    short = Tally()
    short.time("P11", "to the end of the socket, embedded:", 0.5)
    short.size("P9", "that it cost, embedded:", 3 * 1024**2)

    amended = short.amend(short.amend(page, "P11", command="make faults ONLY=P11"), "P9", command="make faults ONLY=P9")

    assert "took up to 7.00 s" in page and len(lines_of(amended, "P11")) == 1
    assert "0.50 s; 0 violations (measured on" in amended and "`make faults ONLY=P11`" in amended
    assert "that it cost, embedded: 3.00 MB" in amended and "- P9: not measured" not in amended
    assert lines_of(amended, "P1") == lines_of(page, "P1") and "- P2: not measured here." in amended


def test_a_promise_found_broken_is_told_of():
    tally = Tally()
    page = tally.page(command="make faults", seconds=60, load=1.0)
    tally.violate("P9", "embedded: it was let in")

    assert "**1 violation**" in (amended := tally.amend(page, "P9", command="make faults ONLY=P9"))
    assert "- P9: **embedded: it was let in**" in amended
