"""A passage cut into what can be quoted by itself: sentences, list items, table rows, code, with the heading above them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

ITEM_LENGTH = 350
"""A longer list item is quoted by its sentences."""

_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^\s*([=\-~^\"'*+#.:_])\1{2,}\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S")
_NUMBER = re.compile(r"\s*(\d{1,2})\.\s")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_ROW_RULE = re.compile(r"^\s*\|[\s|:-]*-[\s|:-]*\|\s*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,5}(?!~))")
# Names the page, sheet or slide that follows, or is left out by whoever reads the page.
_PLACE = re.compile(r"^\s*<!-- .{1,200} -->\s*$")
_SENTENCE_END = re.compile(r"[.!?…][\"'”“»)\]*_]*\s+(?=[\"'„“«(\[*_`]*[A-ZÄÖÜ0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\. ?B|d\. ?h|u\. ?a|bzw|ca|Dr|vgl|inkl|zzgl|ggf|etc|Mr|Mrs|Ms|St|vs|Inc|Ltd|Co|Str|Tel|"
    r"max|min|approx)\.|\b\d{1,2}\.|\b[A-Z]\.)[\"')]*\s*$"
)
_NUMBERED = re.compile(r"\b(?:no|nr|fig|sec|art|abs|pp?|s|ch|vol|kap)\.\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Segment:
    """A stretch `start:end` of the passage. `kind` is heading, sentence, item, head (of a table), row or code; `block`
    numbers paragraphs and the others, so that sentences know their neighbours; `above` is what stands over it."""

    kind: str
    text: str
    start: int
    end: int
    block: int
    heading: str = ""
    above: str = ""

    @property
    def quotable(self) -> bool:
        """Whether it can be an answer by itself."""
        return self.kind not in ("heading", "head")


def cut_segments(text: str, *, commented: bool = False) -> tuple[Segment, ...]:
    """Every segment of a passage in its order; together they leave out only blank lines, rules and comments of a page.

    In a `commented` one a # begins a comment and no heading. The first row of a table without a rule stands over the others
    and can be quoted too, since nothing tells whether it names the columns.
    """
    found: list[Segment] = []
    heading = head = before = ""
    for block, (start, end, kind) in enumerate(_blocks(text, commented=commented)):
        body = text[start:end]
        head = body if kind == "head" else head if kind == "row" else ""
        if kind == "heading":
            heading = heading_text(body)
            found.append(Segment(kind, body, start, end, block, heading))
        elif kind == "row":
            found.append(Segment(kind, body, start, end, block, heading, head))
            # A passage that begins with a row may have been cut out of the middle of a table.
            head = body if start and before not in ("head", "row") else head
        elif kind == "paragraph" or (kind == "item" and end - start > ITEM_LENGTH):
            found += [Segment("sentence", text[a:b], a, b, block, heading) for a, b in _sentences(text, start, end)]
        else:
            found.append(Segment(kind, body, start, end, block, heading))
        before = kind
    return tuple(found)


def heading_text(line: str) -> str:
    """A heading without its marks."""
    found = _HEADING.match(line)
    return (found[1] if found else line.splitlines()[0]).strip(" *_`#")


def is_heading(line: str) -> bool:
    """Whether a single line is a Markdown heading."""
    return bool(_HEADING.match(line))


def _blocks(text: str, *, commented: bool) -> list[tuple[int, int, str]]:
    """(start, end, kind) of headings, paragraphs, single list items, table heads, single rows and whole code blocks."""
    spans = _lines(text)
    lines = [text[start:end] for start, end in spans]
    blocks: list[tuple[int, int, str]] = []
    place = _end_of_opened_code(lines)
    if place:
        blocks.append((0, spans[place - 1][1], "code"))
    while place < len(lines):
        kind = _kind(lines, place)
        kind = "paragraph" if commented and kind == "heading" else kind
        stop = _stop(kind, lines, place, commented=commented)
        if kind not in ("blank", "rule"):
            indent = len(lines[place]) - len(lines[place].lstrip())
            blocks.append((spans[place][0] + indent, spans[stop - 1][1], kind))
        place = stop
    return blocks


def _lines(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _kind(lines: Sequence[str], place: int) -> str:
    line, following = lines[place], lines[place + 1] if place + 1 < len(lines) else ""
    if not line.strip():
        return "blank"
    if _FENCE.match(line):
        return "code"
    if _ROW.match(line):
        return "head" if _ROW_RULE.match(following) else "row"
    if _names_columns(line, following):
        return "head"
    if not any(each.isalnum() for each in line) or _PLACE.match(line):
        return "rule"
    if _HEADING.match(line) or _stands_at_rule(lines, place, following):
        return "heading"
    return "item" if _ITEM.match(line) and not _goes_on(lines, place) else "paragraph"


def _names_columns(line: str, following: str) -> bool:
    """Whether a line only names what each of the rows below it says by itself, as tables of values are read."""
    first, parted, _ = following.removeprefix("- ").partition(": ")
    return bool(parted) and following.startswith("- ") and "; " in line and first in line.split("; ")


def _goes_on(lines: Sequence[str], place: int) -> bool:
    """Whether a number at the beginning of a line only ends the sentence of the line above it, which has no end yet."""
    number = _NUMBER.match(lines[place])
    before = lines[place - 1] if place else ""
    if number is None or number[1] in ("0", "1") or not before.strip() or before.rstrip().endswith((".", ":", ";", "!", "?")):
        return False
    return _kind(lines, place - 1) == "paragraph"


def _stands_at_rule(lines: Sequence[str], place: int, following: str) -> bool:
    """A single line over or under a rule is a heading in reStructuredText, plain text and Markdown's other style."""
    before = lines[place - 1] if place else ""
    if any(each.isalnum() for each in before) or _ITEM.match(lines[place]) or lines[place].rstrip().endswith((".", ":", ",")):
        return False
    over = bool(_UNDERLINE.match(following)) and len(lines[place].strip()) <= len(following.strip()) + 2
    return over or (bool(_UNDERLINE.match(before)) and not following.strip())


def _stop(kind: str, lines: Sequence[str], place: int, *, commented: bool) -> int:
    if kind == "code":
        closing = (later for later in range(place + 1, len(lines)) if _FENCE.match(lines[later]))
        return next(closing, len(lines) - 1) + 1
    if kind == "head":
        return place + 2 if _ROW.match(lines[place]) else place + 1
    place += 1
    goes_on = ("paragraph", "heading") if commented else ("paragraph",)
    while kind in ("item", "paragraph") and place < len(lines) and _kind(lines, place) in goes_on:
        place += 1
    return place


def _end_of_opened_code(lines: Sequence[str]) -> int:
    """How many lines belong to code that began before the passage: then its first fence closes and is bare."""
    fences = [place for place, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) % 2 == 0 or lines[fences[0]].strip() not in ("```", "~~~"):
        return 0
    after = fences[0] + 1
    return after if after >= len(lines) or not lines[after].strip() else 0


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans, begin = [], start
    for found in _SENTENCE_END.finditer(text, start, end):
        ending = text[max(begin, found.end() - 12) : found.end()]
        numbered = text[found.end() : found.end() + 1].isdigit() and _NUMBERED.search(ending)
        if numbered or _ABBREVIATION.search(ending):
            continue
        spans.append((begin, begin + len(text[begin : found.end()].rstrip())))
        begin = found.end()
    if text[begin:end].strip():
        spans.append((begin, end))
    return spans
