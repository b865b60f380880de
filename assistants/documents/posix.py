"""Reads, lists and searches documents as one does with files: read-only, bounded, on their mirror (A-12)."""

import fnmatch
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import regex

from assistants import clock
from assistants.errors import CodedError
from assistants.models import DocumentRoot

from .formats import is_converted
from .indexing import refresh
from .reading import Excerpt, cut_out
from .shelf import Entry, Shelf

MOST_LINES = 2000
MOST_LISTED = 500
MOST_FOUND = 300
MOST_MATCHES = 100
PER_DOCUMENT = 20
LONGEST_LINE = 400
SECONDS = 8.0
_PLACE = re.compile(r"^<!-- (.{1,100}) -->$", re.M)


@dataclass(frozen=True)
class Listing:
    """Documents and folders. `complete` is false when there are more than these, or time was up."""

    entries: tuple[Entry, ...]
    complete: bool


@dataclass(frozen=True)
class Match:
    """A line that matches. `place` is the page, sheet or slide that it stands on."""

    document: str
    line: int
    place: str
    text: str


@dataclass(frozen=True)
class Matches:
    """Lines that match, at most 20 of one document, and how many documents were looked through.

    `complete` is false when there are more matches than these, or time was up.
    """

    matches: tuple[Match, ...]
    documents: int
    complete: bool


def read(roots: Sequence[DocumentRoot], name: str, *, start: int, lines: int) -> Excerpt:
    """Some lines of a document: whole ones, at most 2,000 of them and 40,000 characters. Raises as `Shelf` does."""
    refresh(roots)
    with Shelf(roots) as shelf:
        document, text = shelf.read(name)
    found = cut_out(text, start, min(lines, MOST_LINES), document=document)
    return replace(found, place=_Places(document, text).at(start))


def ls(roots: Sequence[DocumentRoot], name: str) -> Listing:
    """What lies in a folder, at most 500 entries. Raises as `Shelf` does."""
    refresh(roots)
    with Shelf(roots) as shelf:
        entries = shelf.entries(name)
    return Listing(tuple(entries[:MOST_LISTED]), complete=len(entries) <= MOST_LISTED)


def find(roots: Sequence[DocumentRoot], name: str, pattern: str) -> Listing:
    """Documents below a folder whose name matches, at most 300. A pattern with a slash is held against the whole name.

    `*`, `?` and `[…]` as in a shell, without regard to case. Raises as `Shelf` does.
    """
    refresh(roots)
    ends = clock.monotonic() + SECONDS
    wanted = pattern.casefold() or "*"
    whole = "/" in wanted
    matches = re.compile(fnmatch.translate(f"*{wanted}" if whole else wanted)).match
    found: list[Entry] = []
    with Shelf(roots) as shelf:
        for entry in shelf.documents(name):
            if clock.monotonic() > ends or len(found) > MOST_FOUND:
                return Listing(tuple(found[:MOST_FOUND]), complete=False)
            compared = entry.name if whole else entry.name.rpartition("/")[2]
            if matches(compared.casefold()):
                found.append(entry)
    return Listing(tuple(found[:MOST_FOUND]), complete=len(found) <= MOST_FOUND)


def grep(roots: Sequence[DocumentRoot], name: str, pattern: str, *, exact_case: bool = False, literal: bool = False) -> Matches:
    """Lines below a folder, or of one document, that match; at most 100, within 8 s.

    `pattern` is a regular expression unless `literal`. Raises `PATTERN_INVALID`, and as `Shelf` does.
    """
    refresh(roots)
    expression = _compiled(regex.escape(pattern) if literal else pattern, exact_case=exact_case)
    ends = clock.monotonic() + SECONDS
    found: list[Match] = []
    documents, complete = 0, True
    with Shelf(roots) as shelf:
        for entry in shelf.documents(name):
            left = ends - clock.monotonic()
            if left <= 0 or len(found) >= MOST_MATCHES:
                complete = False
                break
            document, text = shelf.read(entry.name)
            try:
                here = list(islice(_matching_lines(expression, document, text, left), PER_DOCUMENT + 1))
            except TimeoutError:
                complete = False
                break
            documents += 1
            complete &= len(here) <= PER_DOCUMENT
            found += here[:PER_DOCUMENT]
    return Matches(tuple(found[:MOST_MATCHES]), documents, complete and len(found) <= MOST_MATCHES)


def _compiled(pattern: str, *, exact_case: bool) -> "regex.Pattern[str]":
    try:
        return regex.compile(pattern, regex.MULTILINE | (0 if exact_case else regex.IGNORECASE))
    except (regex.error, RecursionError, OverflowError) as error:
        raise CodedError(
            code="PATTERN_INVALID",
            field="pattern",
            message=f"This is no regular expression: {str(error)[:200]}.",
            fix="Mend it, or set literal to look for the words as they are.",
        ) from None


def _matching_lines(expression: "regex.Pattern[str]", document: str, text: str, seconds: float) -> Iterator[Match]:
    """Each line once, however often it matches. An expression may take for ever; this one may not."""
    places: _Places | None = None
    line, counted, line_end = 1, 0, -1
    for found in expression.finditer(text, timeout=seconds):
        if found.start() <= line_end:
            continue
        line += text.count("\n", counted, found.start())
        counted = found.start()
        line_start = text.rfind("\n", 0, found.start()) + 1
        line_end = text.find("\n", found.start())
        line_end = len(text) if line_end < 0 else line_end
        shown_from = max(line_start, found.start() - LONGEST_LINE // 2) if line_end - line_start > LONGEST_LINE else line_start
        places = places or _Places(document, text)
        yield Match(document, line, places.at(line), text[shown_from : min(line_end, shown_from + LONGEST_LINE)].strip())


class _Places:
    """The pages, sheets or slides of a document's text, by the lines where they begin. In one that was text before, a
    comment is nothing but a comment."""

    def __init__(self, document: str, text: str) -> None:
        self._lines: list[int] = []
        self._labels: list[str] = []
        line, counted = 1, 0
        for found in _PLACE.finditer(text) if is_converted(document) else ():
            line += text.count("\n", counted, found.start())
            counted = found.start()
            self._lines.append(line)
            self._labels.append(found[1])

    def at(self, line: int) -> str:
        """The label that this line stands below, or nothing."""
        place = bisect_right(self._lines, line)
        return self._labels[place - 1] if place else ""
