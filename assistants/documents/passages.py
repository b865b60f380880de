"""Cuts a document's text into passages: whole lines, by headings and paragraphs, long enough to make sense alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from .formats import Anchor

SHORTEST, LONGEST = 600, 1600
# What a line is cut into that is longer than a whole passage.
LONGEST_PART = 1200
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#.:_`])\1{2,}\s*")
_FENCE = re.compile(r"\s*(```|~~~)")
_SENTENCE_END = re.compile(r"[.!?…][\"'”“»)\]]*\s+")


@dataclass(frozen=True)
class Cut:
    """A passage: the lines `first` to `last` (from 1) word for word; or, if a line is too long, a part of one line.

    `anchor` names the page, sheet or slide that it stands on, if there are any.
    """

    first: int
    last: int
    heading: str
    text: str
    anchor: str = ""


class _Block(NamedTuple):
    """Lines that belong together, by index from 0 to before `end`. `level` is 0 unless it is a heading."""

    start: int
    end: int
    size: int
    level: int = 0
    heading: str = ""


def cut_passages(text: str, *, markup: bool, anchors: Sequence[Anchor] = ()) -> list[Cut]:
    """Passages of about 600 to 1,600 characters that together hold every line that is not blank, in order.

    A passage begins at a heading where there is one; short sections go together with their neighbours. None goes over
    the end of a page, and the comments that name the pages are in none.
    """
    lines = text.split("\n")
    if not anchors:
        return _cut(lines, markup=markup)
    cuts = _cut(lines[: anchors[0].line - 1], markup=markup)
    for place, anchor in enumerate(anchors):
        ends = anchors[place + 1].line - 1 if place + 1 < len(anchors) else len(lines)
        for cut in _cut(lines[anchor.line : ends], markup=markup):
            cuts.append(replace(cut, first=cut.first + anchor.line, last=cut.last + anchor.line, anchor=anchor.label))
    return cuts


def _cut(lines: Sequence[str], *, markup: bool) -> list[Cut]:
    blocks = list(_blocks(lines, markup=markup))
    cutter = _Cutter(lines)
    for place, block in enumerate(blocks):
        if block.level:
            cutter.begin_section(block, size=_section_size(blocks, place))
        else:
            cutter.add(block)
    cutter.flush()
    return cutter.cuts


@dataclass
class _Cutter:
    """The passage that is being put together, and those that are done."""

    lines: Sequence[str]
    cuts: list[Cut] = field(default_factory=list)
    _blocks: list[_Block] = field(default_factory=list)
    _size: int = 0
    _bodies: dict[str, int] = field(default_factory=dict)
    _above: str = ""

    def begin_section(self, block: _Block, *, size: int) -> None:
        full = self._size >= SHORTEST or self._size + size > LONGEST or block.level == 1
        if (full and self._bodies) or self._size > LONGEST:
            self.flush()
        self._above = block.heading
        self._take(block)

    def add(self, block: _Block) -> None:
        if self._size + block.size > LONGEST and self._bodies:
            self.flush()
        if block.size <= LONGEST:
            self._take(block)
            return
        for piece in _pieces(self.lines, block):
            if isinstance(piece, Cut):
                self.flush()
                self.cuts.append(Cut(piece.first, piece.last, self._above, piece.text))
                continue
            if self._size + piece.size > LONGEST and self._bodies:
                self.flush()
            self._take(piece)

    def flush(self) -> None:
        """Ends the passage at hand, under the heading that most of it stands under; blank lines at its ends are left out."""
        if self._blocks:
            first, last = self._blocks[0].start, self._blocks[-1].end - 1
            while first <= last and not self.lines[first].strip():
                first += 1
            while last >= first and not self.lines[last].strip():
                last -= 1
            if first <= last:
                heading = max(self._bodies, key=self._bodies.__getitem__, default=self._above)
                self.cuts.append(Cut(first + 1, last + 1, heading, "\n".join(self.lines[first : last + 1])))
        self._blocks, self._size, self._bodies = [], 0, {}

    def _take(self, block: _Block) -> None:
        self._blocks.append(block)
        self._size += block.size
        if not block.level:
            self._bodies[self._above] = self._bodies.get(self._above, 0) + block.size


def _section_size(blocks: Sequence[_Block], place: int) -> int:
    size = blocks[place].size
    while place + 1 < len(blocks) and not blocks[place + 1].level and size <= LONGEST:
        place += 1
        size += blocks[place].size
    return size


def _blocks(lines: Sequence[str], *, markup: bool) -> Iterator[_Block]:
    """Headings, fenced code and paragraphs, each with the blank lines behind it."""
    # How many characters stand before each line, without the ends of lines.
    before = list(accumulate(map(len, lines), initial=0))
    place = _front_matter_end(lines) if markup else 0
    if place:
        yield _Block(0, place, before[place] + place)
    while place < len(lines):
        level, heading, end = _heading_at(lines, place) if markup else (0, "", place)
        if not level:
            end = _fence_end(lines, place) if markup and _FENCE.match(lines[place]) else _paragraph_end(lines, place, markup)
        while end < len(lines) and (not lines[end] or lines[end].isspace()):
            end += 1
        yield _Block(place, end, before[end] - before[place] + end - place, level, heading)
        place = end


def _front_matter_end(lines: Sequence[str]) -> int:
    if not lines or lines[0].strip() != "---":
        return 0
    return next((place + 1 for place, line in enumerate(lines[1:40], 1) if line.strip() == "---"), 0)


def _heading_at(lines: Sequence[str], place: int) -> tuple[int, str, int]:
    """Level, text and the line after the heading; level 0 if none stands here."""
    line = lines[place]
    if "#" in line[:4] and (found := _heading_match(line)):
        return len(found[1]), _bare(found[2]), place + 1
    following = lines[place + 1] if place + 1 < len(lines) else ""
    if following[:3] != 3 * following[:1] or not following:
        return 0, "", place
    underlined = bool(line.strip()) and bool(_UNDERLINE.fullmatch(following)) and not _UNDERLINE.fullmatch(line)
    fits = len(line.strip()) <= min(len(following.strip()) + 2, 120) and not line.lstrip().startswith(("|", "-", "*", ">"))
    if underlined and fits and (place == 0 or not lines[place - 1].strip() or _UNDERLINE.fullmatch(lines[place - 1])):
        return 1 if following.startswith(("=", "#", "*")) else 2, _bare(line), place + 2
    return 0, "", place


def _heading_match(line: str) -> re.Match[str] | None:
    return _HEADING.fullmatch(line) if len(line) <= LONGEST // 4 else None


def _bare(heading: str) -> str:
    return " ".join(re.sub(r"[*_`]", "", heading).split())[:200]


def _fence_end(lines: Sequence[str], place: int) -> int:
    mark = _FENCE.match(lines[place])
    closing = mark[1] if mark else "```"
    return next((end + 1 for end in range(place + 1, len(lines)) if lines[end].lstrip().startswith(closing)), len(lines))


def _paragraph_end(lines: Sequence[str], place: int, markup: bool) -> int:
    end = place + 1
    while end < len(lines) and (bare := lines[end].lstrip()):
        if markup and bare[0] in "#`~" and (_FENCE.match(lines[end]) or _heading_match(lines[end])):
            break
        end += 1
    return end


def _pieces(lines: Sequence[str], block: _Block) -> Iterator[_Block | Cut]:
    """A block that is too long, line by line; a line that is too long, sentence by sentence."""
    for place in range(block.start, block.end):
        if len(lines[place]) <= LONGEST:
            yield _Block(place, place + 1, len(lines[place]) + 1)
        else:
            yield from (Cut(place + 1, place + 1, "", part) for part in split_line(lines[place]))


def split_line(line: str) -> Iterator[str]:
    """Parts of a long line that end with a sentence, else with a word, else anywhere."""
    start = 0
    while len(line) - start > LONGEST_PART:
        window = line[start : start + LONGEST_PART]
        ends = [found.end() for found in _SENTENCE_END.finditer(window) if found.end() >= LONGEST_PART // 4]
        length = ends[-1] if ends else window.rfind(" ") + 1 or LONGEST_PART
        if part := line[start : start + length].strip():
            yield part
        start += length
    if part := line[start:].strip():
        yield part
