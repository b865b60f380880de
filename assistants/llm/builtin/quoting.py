"""Quotes: the lines around a best sentence, verbatim, as Markdown with file and lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .findings import Finding
from .passages import Passage
from .phrases import phrase
from .segments import Segment, cut_segments
from .wish import Wish

GAP = "[…]"
QUOTE_LENGTH = 420
LIST_LENGTH = 900
_MARKUP = re.compile(r"[*_`|<>\[\]\\#$~]|https?://|\n\s*[-+>]")
_SOURCE = re.compile(r"^— (.+?), (?:lines?|Zeilen?) (\d+)(?:-(\d+))?(?: · .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Quote:
    """Segments of one passage in their order, all verbatim; the best one is set in bold where its own marks allow."""

    passage: Passage
    chosen: tuple[Segment, ...]
    best: Segment | None = None

    @property
    def heading(self) -> str:
        return next((each.heading for each in self.chosen if each.heading), "") or self.passage.title


def make_quote(finding: Finding, wish: Wish) -> Quote:
    """The best segment with as much of its paragraph, list or table as makes it understood."""
    quotable = [each for each in finding.segments if each.kind != "heading"]
    place = quotable.index(finding.best)
    widen = {"sentence": _with_paragraph, "item": _with_list, "row": _with_head}.get(finding.best.kind)
    if finding.by_heading and not wish.numeric:
        widen = _whole_section
    chosen = widen(quotable, place, wish) if widen else [finding.best]
    chosen += _fitting(finding.alike, chosen)
    return Quote(finding.passage, tuple(sorted(chosen, key=lambda each: each.start)), finding.best)


def render_quote(quote: Quote, language: str) -> str:
    """A block quote, then its source: `— folder/file.md, lines 3-5`."""
    lines: list[str] = []
    for place, segment in enumerate(quote.chosen):
        if place:
            lines += _between(quote, quote.chosen[place - 1], segment)
        own = _lines_of(segment, bold=segment == quote.best)
        if lines and place and _same_line(quote, quote.chosen[place - 1], segment):
            lines[-1] += f" {own[0]}"
            own = own[1:]
        lines += own
    body = "\n".join(f"> {line}".rstrip() for line in lines)
    return f"{body}\n\n{render_source(quote, language)}"


def render_words(text: str, number: int) -> str:
    """A block quote of words that were cut out of a document, with the mark of their result behind them.

    Rows without the names of their columns are no table to Markdown: their cells are parted by dots.
    """
    segments = [each for each in cut_segments(text) if each.text.strip()]
    kinds = {each.kind for each in segments}
    lines = [" ".join(line.split()) for line in text.strip().split("\n") if line.strip()]
    if kinds == {"head", "row"}:
        lines += ["", f"[{number}]"]
    elif "code" in kinds:
        lines = [*text.strip().split("\n"), "", f"[{number}]"]
    elif kinds == {"row"}:
        rows = [" · ".join(filter(None, map(str.strip, line.strip("|").split("|")))) for line in lines]
        lines = [f"- {row}" for row in rows] if len(rows) > 1 else rows
        lines[-1] += f" [{number}]"
    elif "item" in kinds:
        lines[-1] += f" [{number}]"
    else:
        lines = [f"{' '.join(lines)} [{number}]"]
    return "\n".join(f"> {line}".rstrip() for line in lines)


def render_source(quote: Quote, language: str) -> str:
    """Where the quote stands, by file, lines and heading."""
    passage = quote.passage
    place, first, last = passage.place, passage.first_line, passage.last_line
    if passage.counted:
        first = passage.first_line + passage.text.count("\n", 0, quote.chosen[0].start)
        last = passage.first_line + passage.text.count("\n", 0, quote.chosen[-1].end)
    if first:
        place = phrase(language, "line" if first == last else "lines", first=first, last=last)
    source = f"— {passage.document}" + (f", {place}" if place else "")
    heading = " ".join(re.sub(r"[*_`\[\]<>]", "", quote.heading).split())
    return (
        f"{source} · {heading[:80]}"
        if re.search(r"\w", heading) and heading.lower() not in passage.document.lower()
        else source
    )


def last_source(reply: str) -> tuple[str, int] | None:
    """The document and the last line that a reply of this engine quoted last."""
    found = list(_SOURCE.finditer(reply))
    if not found:
        return None
    return found[-1][1], int(found[-1][3] or found[-1][2])


def overlaps(quote: Quote, others: Sequence[Quote]) -> bool:
    """Whether the same words were quoted before, be it from a copy of the document."""
    own = _plain(quote.best.text if quote.best else quote.chosen[0].text)
    return any(own in _plain(" ".join(each.text for each in other.chosen)) for other in others)


def _fitting(more: Sequence[Segment], chosen: Sequence[Segment]) -> list[Segment]:
    room = LIST_LENGTH - sum(len(each.text) for each in chosen)
    fitting: list[Segment] = []
    for each in more:
        room -= len(each.text)
        if each not in chosen and room >= 0:
            fitting.append(each)
    return fitting


def _with_paragraph(quotable: list[Segment], place: int, _: Wish) -> list[Segment]:
    best = quotable[place]
    chosen, length = [best], len(best.text)
    # What follows explains; what stands before is needed by a sentence that only points back.
    for step in (1, -1, 2):
        other = quotable[place + step] if 0 <= place + step < len(quotable) else None
        if other and other.block == best.block and length + len(other.text) <= QUOTE_LENGTH:
            chosen.append(other)
            length += len(other.text)
    if best.text.rstrip().endswith(":"):
        chosen += _items_after(quotable, best, LIST_LENGTH - length)
    return chosen


def _with_list(quotable: list[Segment], place: int, wish: Wish) -> list[Segment]:
    first, last = place, place
    while first > 0 and quotable[first - 1].kind == "item" and quotable[first - 1].heading == quotable[place].heading:
        first -= 1
    while (
        last + 1 < len(quotable) and quotable[last + 1].kind == "item" and quotable[last + 1].heading == quotable[place].heading
    ):
        last += 1
    lead = [quotable[first - 1]] if first > 0 and quotable[first - 1].text.rstrip().endswith(":") else []
    whole = quotable[first : last + 1]
    if wish.listing and sum(len(each.text) for each in whole) <= LIST_LENGTH:
        return lead + whole
    return lead + [quotable[place]]


def _with_head(quotable: list[Segment], place: int, _: Wish) -> list[Segment]:
    head = [each for each in quotable[:place] if each.kind in ("head", "row") and each.text == quotable[place].above]
    return [*head[-1:], quotable[place]]


def _whole_section(quotable: list[Segment], place: int, _: Wish) -> list[Segment]:
    section = [each for each in quotable if each.heading == quotable[place].heading]
    chosen: list[Segment] = []
    for each in section[section.index(quotable[place]) :] if len(section) > 12 else section:
        if sum(len(other.text) for other in chosen) + len(each.text) > LIST_LENGTH:
            break
        chosen.append(each)
    return chosen or [quotable[place]]


def _items_after(quotable: list[Segment], best: Segment, room: int) -> list[Segment]:
    items: list[Segment] = []
    for each in quotable[quotable.index(best) + 1 :]:
        if each.kind not in ("item", "head", "row") or len(each.text) > room:
            break
        room -= len(each.text)
        items.append(each)
    return items


def _lines_of(segment: Segment, *, bold: bool) -> list[str]:
    # Markdown takes four leading blanks for code; a cut-out line loses its indentation except inside of code.
    text = segment.text if segment.kind == "code" else "\n".join(line.strip() for line in segment.text.strip().split("\n"))
    if bold and segment.kind == "sentence" and not _MARKUP.search(text):
        text = f"**{text}**"
    return text.split("\n")


def _between(quote: Quote, before: Segment, after: Segment) -> list[str]:
    skipped = quote.passage.text[before.end : after.start]
    if any(each.isalnum() for each in skipped):
        # Of a table and of bullets a choice is shown; the numbers of steps would be counted anew.
        return [] if after.kind == "row" or (before.kind == after.kind and _is_bullet(after)) else ["", GAP, ""]
    # A list may not grow into the paragraph before it, and a blank line in a table would end it.
    together = before.kind == after.kind != "sentence" or after.kind == "row"
    return [""] if before.block != after.block and not together else []


def _is_bullet(segment: Segment) -> bool:
    return segment.kind == "item" and segment.text.lstrip().startswith(("- ", "* ", "• "))


def _same_line(quote: Quote, before: Segment, after: Segment) -> bool:
    return before.block == after.block and "\n" not in quote.passage.text[before.end : after.start]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
