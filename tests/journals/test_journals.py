"""Journals of running turns, recorded by earlier versions, are carried on by the present code to the right end (P14)."""

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.journals.replay import replay
from tests.journals.rows import load
from tests.journals.upgrades import drop_column, rename_column, upgrade

RECORDED = sorted(Path(__file__).with_name("recorded").glob("*.jsonl.xz"))
# Each recording is carried on in so many parts, so that a slow machine shows how far it has come.
PARTS = 8


@cache
def read(path: Path) -> tuple[set[str], list[dict[str, Any]]]:
    """The migrations that the recording version had, and its journals."""
    header, *lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    return set(json.loads(header)["migrations"]), [json.loads(line) for line in lines]


def wrong_with(journal: dict[str, Any], known: set[str]) -> str:
    """What is wrong with the end of a journal; empty if nothing is."""
    upgrade(journal["tables"], known)
    try:
        end = replay(journal)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:2000]
    return "" if end == journal["end"] else f"it ends as {end}, not as {journal['end']}"


@pytest.mark.django_db
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name[:4])
def test_p14_a_turn_in_flight_survives_an_upgrade(path: Path, part: int) -> None:
    """I4, I5, I8 and I9 hold at the end of each, and every conversation ends as it did when it was recorded."""
    known, journals = read(path)

    wrongs = {each["name"]: wrong for each in journals[part::PARTS] if (wrong := wrong_with(each, known))}

    assert not wrongs, "\n".join(f"{name}: {wrong}" for name, wrong in wrongs.items())


def test_p14_no_fewer_than_two_hundred_journals_are_carried_on() -> None:
    assert sum(len(read(path)[1]) for path in RECORDED) >= 200


def test_a_column_that_was_renamed_or_dropped_is_carried_over_for_older_journals_only() -> None:
    def change(tables: Any) -> None:
        rename_column(tables, "assistants.turn", "note", "remark")
        drop_column(tables, "assistants.turn", "round")

    def rows() -> dict[str, Any]:
        return {"assistants.turn": {"columns": ["id", "note", "round"], "rows": [[1, "a", 0], [2, "b", 3]]}}

    older, newer = rows(), rows()
    upgrade(older, {"assistants.0016_x"}, {"assistants.0017_y": change})
    upgrade(newer, {"assistants.0016_x", "assistants.0017_y"}, {"assistants.0017_y": change})

    assert older == {"assistants.turn": {"columns": ["id", "remark"], "rows": [[1, "a"], [2, "b"]]}} and newer == rows()


@pytest.mark.django_db
@pytest.mark.parametrize("gone", ["assistants.turn.mood", "assistants.mood"])
def test_a_journal_with_a_column_that_nobody_spoke_about_is_not_taken_for_a_good_one(gone: str, tmp_path: Path) -> None:
    label, _, column = gone.partition(".turn.")
    tables = {"assistants.turn" if column else label: {"columns": ["id", column or "x"], "rows": [[1, "good"]]}}

    with pytest.raises(AssertionError, match=r"is gone: say in tests/journals/upgrades.py"):
        load(tables, tmp_path)
