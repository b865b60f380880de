"""Questions with known answers, in sets that were worded differently."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Question:
    """`phrase` stands in the passage that answers it, in `document`; line breaks in between don't matter.

    `set` says how it came about. `plain`: as somebody asks who knows the subject, written before any engine was asked and
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


def read_questions() -> list[Question]:
    """Every question, from the table beside this file."""
    lines = Path(__file__).with_name("questions.tsv").read_text(encoding="utf-8").splitlines()
    return [Question(*line.split("\t")) for line in lines[1:]]
