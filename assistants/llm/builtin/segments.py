"""A passage cut into what can be quoted by itself: sentences, list items, table rows, code, with the heading above them."""

import re
from dataclasses import dataclass

_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^\s*([=\-~^\"'*+#.:_])\1{2,}\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_SENTENCE_END = re.compile(r"[.!?…][\"'”“»)\]*_]*\s+(?=[\"'„“«(\[*_`]*[A-ZÄÖÜ0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\. ?B|d\. ?h|u\. ?a|bzw|ca|Dr|Nr|No|Art|Abs|vgl|inkl|zzgl|ggf|etc|Mr|Mrs|Ms|St|vs|Inc|Ltd|Co|Str|Tel|"
    r"max|min|approx|Fig|Sec|p|S)\.|\b\d{1,2}\.|\b[A-Z]\.)[\"')]*\s*$"
)


@dataclass(frozen=True)
class Segment:
    """A stretch `start:end` of the passage. `kind` is heading, sentence, item, row or code; `block` numbers paragraphs,
    lists and tables, so that neighbours know each other."""

    kind: str
    text: str
    start: int
    end: int
    block: int
    heading: str = ""


def cut_segments(text: str) -> tuple[Segment, ...]:
    """Every segment of a passage in its order; together they leave out only blank lines and rules."""
    found: list[Segment] = []
    heading = ""
    for block, (start, end, kind) in enumerate(_blocks(text)):
        body = text[start:end]
        if kind == "heading":
            heading = heading_text(body)
            found.append(Segment(kind, body, start, end, block, heading))
        elif kind == "paragraph":
            found += [Segment("sentence", text[a:b], a, b, block, heading) for a, b in _sentences(text, start, end)]
        else:
            found.append(Segment(kind, body, start, end, block, heading))
    return tuple(found)


def heading_text(line: str) -> str:
    """A heading without its marks."""
    found = _HEADING.match(line)
    return (found[1] if found else line.splitlines()[0]).strip(" *_`#")


def is_heading(line: str) -> bool:
    """Whether a single line is a Markdown heading."""
    return bool(_HEADING.match(line))


def _blocks(text: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of headings, paragraphs, single list items, single rows and whole code blocks."""
    blocks: list[tuple[int, int, str]] = []
    lines = _lines(text)
    place = 0
    while place < len(lines):
        start, end = lines[place]
        line = text[start:end]
        kind = _kind(line, text[slice(*lines[place + 1])] if place + 1 < len(lines) else "")
        stop = place + 1
        if kind == "code":
            stop = _after_fence(text, lines, place)
        elif kind == "item":
            stop = _after(text, lines, stop, ("paragraph",))
        elif kind == "paragraph":
            stop = _after(text, lines, stop, ("paragraph",))
        if kind not in ("blank", "rule"):
            blocks.append((start + len(line) - len(line.lstrip()), lines[stop - 1][1], kind))
        place = stop
    return blocks


def _lines(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _kind(line: str, following: str) -> str:
    if not line.strip():
        return "blank"
    if _FENCE.match(line):
        return "code"
    if _UNDERLINE.match(line):
        return "rule"
    # A line of the same length or shorter over a rule is a heading in reStructuredText and in Markdown's other style.
    underlined = _UNDERLINE.match(following) and len(line.strip()) <= len(following.strip()) + 2
    if _HEADING.match(line) or (underlined and not _ROW.match(line)):
        return "heading"
    if _ROW.match(line):
        return "row"
    return "item" if _ITEM.match(line) else "paragraph"


def _after(text: str, lines: list[tuple[int, int]], place: int, kinds: tuple[str, ...]) -> int:
    while place < len(lines):
        following = text[slice(*lines[place + 1])] if place + 1 < len(lines) else ""
        if _kind(text[slice(*lines[place])], following) not in kinds:
            break
        place += 1
    return place


def _after_fence(text: str, lines: list[tuple[int, int]], place: int) -> int:
    for later in range(place + 1, len(lines)):
        if _FENCE.match(text[slice(*lines[later])]):
            return later + 1
    return len(lines)


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans, begin = [], start
    for found in _SENTENCE_END.finditer(text, start, end):
        if _ABBREVIATION.search(text[max(begin, found.end() - 12) : found.end()]):
            continue
        spans.append((begin, begin + len(text[begin : found.end()].rstrip())))
        begin = found.end()
    if text[begin:end].strip():
        spans.append((begin, end))
    return spans
