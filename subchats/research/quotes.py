"""Finds a quote in a document, however its white space and its typography were written; evidence is verified, not trusted."""

import hashlib
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

NEAR = 3
"""How many lines a quote may stand away from the line that was named for it."""
SHORTEST = 8
"""Characters below which words prove nothing: they stand anywhere."""
LONGEST = 4000
"""Characters above which it is no quote but a copy; keeps the search linear too."""
_TYPOGRAPHY = {
    **dict.fromkeys("‘’‚‛′´`", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
}
_HYPHENS = frozenset("-‐‑")
_INVISIBLE = {"\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"}


@dataclass(frozen=True)
class Quote:
    """Where a quote stands: offsets in characters of the document's text, the line (1..) it begins in, its exact words."""

    start: int
    end: int
    line: int
    words: str


def find_quote(text: str, quote: str, *, line: int | None = None) -> Quote | None:
    """The place of a quote in a text: near the named line, else its first one. None when it does not stand there.

    Linear in the text. White space counts as one blank, and quotation marks, dashes and dots in any of their forms as one.
    It begins and ends with whole words: "refundable" does not stand in "non-refundable", nor "costs 1" in "costs 1.50".
    """
    wanted = _flatten(quote)[0].strip()
    if not SHORTEST <= len(wanted) <= LONGEST:
        return None
    plain, places = _flatten(text)
    starts = _line_starts(text)
    at = plain.find(wanted)
    while at >= 0:
        first, after = places[at], at + len(wanted)
        last = places[after] if after < len(places) else len(text)
        here = _line_of(starts, first)
        near = line is None or here - NEAR <= line <= _line_of(starts, last - 1) + NEAR
        if near and not any(_is_inside_word(text, plain, places, edge) for edge in (at, after)):
            return Quote(first, last, here, text[first:last])
        at += 1
        while _is_inside_word(text, plain, places, at):
            at += 1
        at = plain.find(wanted, at)
    return None


def evidence_id(
    method: str, source: str, line: int | None, text: str, *, retrieval_id: str = "", chunk: int | None = None
) -> str:
    """A name for a piece of evidence that stays the same from search to search (rules 4.8).

    With the id that a retrieval method gave it, that id; it never holds a path, so one that does is hashed like the rest.
    """
    if retrieval_id and "/" not in retrieval_id and "\\" not in retrieval_id:
        return f"{method}:{retrieval_id}"
    parts = [method, source, "" if chunk is None else str(chunk), "" if line is None else str(line), _flatten(text)[0].strip()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _is_inside_word(text: str, plain: str, places: list[int], edge: int) -> bool:
    """Whether the plain text goes on with the same word or number behind this place. Scripts without blanks have no such."""
    if not 0 < edge < len(plain):
        return False
    before, after = plain[edge - 1], plain[edge]
    if before.isalnum() and after.isalnum():
        return not unicodedata.category(before) == unicodedata.category(after) == "Lo"
    if before.isalnum():
        return edge + 1 < len(plain) and _is_joined(text, plain, places, edge)
    return after.isalnum() and edge > 1 and _is_joined(text, plain, places, edge - 1)


def _is_joined(text: str, plain: str, places: list[int], place: int) -> bool:
    """Whether the sign at this place makes one word of what stands around it: a-b, a'b, a_b, 1.5, 1:30."""
    left, sign, right = plain[place - 1], plain[place], plain[place + 1]
    if sign in ".,:/":
        return left.isdigit() and right.isdigit()
    joins = sign in "'_" or text[places[place]] in _HYPHENS
    return joins and left.isalnum() and right.isalnum()


def _flatten(text: str) -> tuple[str, list[int]]:
    """The text in one plain form, and for each of its characters the place that it came from."""
    plain: list[str] = []
    places: list[int] = []
    for place, character in _letters(text):
        if character in _INVISIBLE:
            continue
        form = " " if character.isspace() else _TYPOGRAPHY.get(character) or unicodedata.normalize("NFKC", character)
        if form == " " and plain and plain[-1] == " ":
            continue
        plain += form
        places += [place] * len(form)
    return "".join(plain), places


def _letters(text: str) -> Iterator[tuple[int, str]]:
    """Each character with its place; a letter together with the accents that follow it."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or not unicodedata.combining(text[place]):
            yield start, text[start:place]
            start = place


def _line_starts(text: str) -> list[int]:
    return [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]


def _line_of(starts: list[int], offset: int) -> int:
    return bisect_right(starts, offset)
