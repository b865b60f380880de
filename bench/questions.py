"""Questions with known answers, in sets that were worded differently."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

QUESTIONS, JUDGED = (Path(__file__).with_name(name) for name in ("questions.tsv", "judged.tsv"))


@dataclass(frozen=True)
class Question:
    """`phrase` stands in the passage that answers it, in `document`; line breaks in between don't matter.

    `also` are phrases of other passages that were read and judged to answer it as well (`pool.py`). `set` says how it came
    about. `plain`: as somebody asks who knows the subject, written before any engine was asked and
    left as it was. `other words`: written first of all, avoiding the document's words. `its own words`: those again, written
    after the engines had failed at many of them and with the passage at hand, so that they often say the very words of the
    answer; they bound what an engine can do from above, and are no measure of how well people find things. `later`: as `plain`,
    each question first and its phrase afterwards, before the engine was changed. Every other one was looked at while it was
    changed (`tuned on`), as were the sets before; the rest was asked only at its end (`kept`).
    """

    set: str
    document: str
    question: str
    phrase: str
    also: tuple[str, ...] = ()


def read_questions() -> list[Question]:
    """Every question, from the tables beside this file."""
    also = defaultdict(list)
    for question, _, phrase in rows_of(JUDGED):
        also[question].append(phrase)
    return [Question(*row, also=tuple(also[row[2]])) for row in rows_of(QUESTIONS)]


def rows_of(table: Path) -> list[list[str]]:
    """A table's rows without its head."""
    return [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()[1:]]
