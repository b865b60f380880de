"""A request cut into the parts that can be done apart: list items, several questions, halves joined by “and”."""

import re
from collections.abc import Callable

from .background import points_back
from .words import content_words, strong

MAX_PARTS = 6
LONGEST = 400
"""The longest sentence, in characters, whose halves are looked at."""
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+(.+)$")
_SENTENCES = re.compile(r"(?<=[?!])\s+|;\s+|\n\s*\n|(?<=[a-zäöüß0-9)])\.\s+(?=[A-ZÄÖÜ])")
_JOINTS = re.compile(
    r",?\s+(?:and also|and|as well as|und außerdem|und auch|und|sowie)\s+|,\s+(?=(?:who|what|how|when|where|wer|was|wie|"
    r"wann|wo)\b)"
)


_QUESTION = re.compile(
    r",?\s+(?:and|und)\s+(?=(?:who|what|when|where|how|which|is|are|can|do|does|wer|was|wann|wo|wie|welche\w*|ist|sind|"
    r"kann|darf|muss|"
    r"gibt)\b)",
    re.IGNORECASE,
)


def split_parts(text: str, language: str, owner: Callable[[str], str]) -> tuple[str, ...]:
    """The parts of a text, at most six; the text alone if it is one thing.

    `owner` says who a stretch clearly belongs to, or is empty: halves joined by “and” are parted only between owners.
    """
    if items := _items(text):
        return tuple(items[:MAX_PARTS])
    sentences = _merged([each.strip() for each in _SENTENCES.split(text) if each.strip()], language)
    parts: list[str] = []
    for sentence in sentences:
        parts += _halves(sentence, language, owner)
    # A part that points back to the one before it can't be done by somebody who sees it alone.
    whole = len(parts) < 2 or any(points_back(part, language) for part in parts[1:])
    return (text.strip(),) if whole else tuple(parts[:MAX_PARTS])


def _items(text: str) -> list[str]:
    items = [found[1].strip() for line in text.splitlines() if (found := _ITEM.match(line))]
    return items if len(items) > 1 else []


def _merged(sentences: list[str], language: str) -> list[str]:
    """A sentence that asks nothing (“I am new here.”) stays with the one that does."""
    merged: list[str] = []
    carried = ""
    for sentence in sentences:
        asks = "?" in sentence or len(sentences) == 1
        if asks and strong(content_words(sentence, language)):
            merged.append(f"{carried} {sentence}".strip())
            carried = ""
        elif asks and merged:
            merged[-1] += f" {sentence}"
        else:
            carried = f"{carried} {sentence}".strip()
    if carried:
        merged = [*merged[:-1], f"{merged[-1]} {carried}"] if merged else [carried]
    return merged


def _halves(sentence: str, language: str, owner: Callable[[str], str]) -> list[str]:
    for joint in _JOINTS.finditer(sentence) if len(sentence) <= LONGEST else ():
        before, after = sentence[: joint.start()].strip(), sentence[joint.end() :].strip()
        first, second = owner(before), owner(after)
        asks = _QUESTION.match(sentence, joint.start()) and "?" in sentence
        both = bool(strong(content_words(before, language)) and strong(content_words(after, language)))
        if (first and second and first != second) or (asks and both):
            return [before, *_halves(after, language, owner)]
    return [sentence]
