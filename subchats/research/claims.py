"""Which sentences of an answer say something without naming a result for it."""

import re
from collections.abc import Sequence

from subchats.models import CuratedResult

_MARK = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_LAST = re.compile(rf"(?:{_MARK.pattern}\s*)+\Z")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])(?:\s*\[[\d,;\s–-]+\])*\s+(?=[A-ZÄÖÜ0-9„“\"*_(])")
MOST = 20
SHORTEST = 4
"""Words below which a line is a heading or a greeting rather than a claim."""


def cited(text: str) -> set[int]:
    """The numbers in the marks of a text, such as 1, 2 and 3 for `[1] [2, 3]`."""
    return {int(number) for mark in _MARK.finditer(text) for number in re.findall(r"\d+", mark[1])}


def unsupported(answer: str, results: Sequence[CuratedResult]) -> list[str]:
    """The sentences that name no result with evidence, in their order; headings and code are none.

    A quote is one whole: the mark behind it stands for all of its sentences.
    """
    carried = {result.number for result in results if result.evidence.all()}
    found = []
    for stripped in _statements(_CODE.sub("", answer)):
        if not stripped or stripped.startswith(("#", "|", "---")) or (stripped[0] == ">" and _cited_behind(stripped) & carried):
            continue
        for sentence in _sentences(stripped):
            if len(sentence.split()) >= SHORTEST and not sentence.endswith(":") and not cited(sentence) & carried:
                found.append(sentence)
    return found[:MOST]


def _cited_behind(quote: str) -> set[int]:
    """The numbers in the marks at the end of a quote; those within it are the document's own."""
    marks = _LAST.search(quote)
    return cited(marks[0]) if marks else set()


def _statements(text: str) -> list[str]:
    """The lines of a text, those of one quote as one."""
    found: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith(">") and found and found[-1].startswith(">"):
            found[-1] += f" {line.lstrip('> ')}"
        else:
            found.append(line)
    return found


def _sentences(line: str) -> list[str]:
    """The sentences of a line, each with the marks that follow its full stop."""
    pieces: list[str] = []
    start = 0
    for gap in _SENTENCE.finditer(line):
        pieces.append(line[start : gap.end()].strip())
        start = gap.end()
    return [*pieces, line[start:].strip()]
