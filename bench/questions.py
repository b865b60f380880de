"""Questions with known answers: as somebody asks who does not know the document, and again in its own terms."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Question:
    """`phrase` stands in the passage that answers it, in `document`; line breaks in between don't matter.

    `asked` was written before any engine had been tried, and is what recall is judged by. `in_its_terms` was written after
    that, with the passage at hand, and often says the very words of the answer: it shows what engines do with a query that
    already knows the document's language, and is no measure of how well people find things.
    """

    document: str
    asked: str
    in_its_terms: str
    phrase: str


def read_questions() -> list[Question]:
    """Every question, from the table beside this file."""
    lines = Path(__file__).with_name("questions.tsv").read_text(encoding="utf-8").splitlines()
    return [Question(*line.split("\t")) for line in lines[1:]]
