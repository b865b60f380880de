"""A document around a quote, line by line, as it is now; and what has become of the quote since it was read."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from assistants.documents.formats import CODE, is_converted, is_marked_up
from subchats.models import Evidence

from .quotes import find_quote

LINES_AROUND = 200
LONG_LINE = 4000
_PLACE = re.compile(r"<!-- (?P<label>(?:(?!--).){1,100}) -->")


@dataclass(frozen=True)
class Line:
    """One line with its number (from 1). `kind` is `place` (a page, sheet or slide begins here), `head`, `row` or none;
    `words` is the part of it that is quoted, between `before` and `after`."""

    number: int
    kind: str
    before: str
    words: str = ""
    after: str = ""


@dataclass(frozen=True)
class Shown:
    """A stretch of a document. `state` says of the quote: `same` document as when it was read; `moved`, the document has
    changed but still says it; `changed`, it says so no more; `gone`, there is no such document any more. `line` is where
    the quote stands now, 0 if nowhere; `is_code` asks for letters of one width."""

    state: str
    lines: tuple[Line, ...] = ()
    line: int = 0
    place: str = ""
    is_code: bool = False
    cut_before: bool = False
    cut_after: bool = False

    @property
    def stands(self) -> bool:
        """Whether the quote is among the lines."""
        return self.state in ("same", "moved")


def passage_of(evidence: Evidence) -> Shown:
    """The document around the quote where it stands now, else around the line where it stood."""
    document = evidence.document
    if document is None:
        return Shown("gone")
    text, start, end = document.text, evidence.start, evidence.end
    state = "same" if document.digest == evidence.digest else "moved"
    if text[start:end] != evidence.excerpt:
        found = find_quote(text, evidence.excerpt, line=evidence.line) or find_quote(text, evidence.excerpt)
        if found is None:
            start = end = _start_of(text, evidence.line or 1)
            state = "changed"
        else:
            start, end, state = found.start, found.end, "moved"
    return _stretch(text, start, end, state, document.path)


def _stretch(text: str, start: int, end: int, state: str, path: str) -> Shown:
    lines = text.removesuffix("\n").split("\n")
    first = text.count("\n", 0, start) + 1
    last = first + text.count("\n", start, end)
    shown_first, shown_last = max(first - LINES_AROUND, 1), min(last + LINES_AROUND, len(lines))
    at = _start_of(text, shown_first)
    shown, converted = [], is_converted(path)
    suffix = PurePosixPath(path).suffix.lower()
    markup = is_marked_up(path)
    for number in range(shown_first, shown_last + 1):
        line = lines[number - 1]
        here, to = max(start - at, 0), min(end - at, len(line))
        quoted = (here, to) if state != "changed" and here < to else (0, 0)
        shown.append(_line(number, line, quoted, converted=converted, markup=markup))
        at += len(line) + 1
    return Shown(
        state=state,
        lines=tuple(shown),
        line=first if state != "changed" else 0,
        place=_place_above(lines, first) if converted else "",
        is_code=suffix in CODE | {".json"},
        cut_before=shown_first > 1,
        cut_after=shown_last < len(lines),
    )


def _line(number: int, text: str, quoted: tuple[int, int], *, converted: bool, markup: bool) -> Line:
    if converted and (place := _PLACE.fullmatch(text)):
        return Line(number, "place", place["label"])
    kind = ("head" if re.match(r"#{1,6} ", text) else "row" if text.startswith("|") else "") if markup else ""
    start, end = quoted
    if start == end:
        return Line(number, kind, _cut_end(text))
    return Line(number, kind, _cut_start(text[:start]), text[start:end], _cut_end(text[end:]))


def _place_above(lines: list[str], line: int) -> str:
    """The page, sheet or slide that a line stands on."""
    marks = (_PLACE.fullmatch(lines[number]) for number in range(min(line, len(lines)) - 1, -1, -1))
    return next((mark["label"] for mark in marks if mark), "")


def _start_of(text: str, line: int) -> int:
    """The offset at which a line begins, or the end of a text that has fewer."""
    at = 0
    for _ in range(line - 1):
        after = text.find("\n", at)
        if after < 0:
            return len(text)
        at = after + 1
    return at


def _cut_start(text: str) -> str:
    return text if len(text) <= LONG_LINE else f"… {text[-LONG_LINE:]}"


def _cut_end(text: str) -> str:
    return text if len(text) <= LONG_LINE else f"{text[:LONG_LINE]} …"
