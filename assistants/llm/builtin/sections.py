"""What was read of documents, cut at its headings: a section says what it is about, which a window of lines does not."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .passages import Passage
from .segments import heading_text, is_heading

_LEVEL = re.compile(r" {0,3}(#{1,6})\s")


def sections_of(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Each passage as its sections, titled by the headings above; one without headings stays as it is.

    Lines are counted on, so that a sentence of a section still has its place in the document. A passage of rows or of a
    list under one heading is one section.
    """
    return tuple(section for passage in passages for section in _sections(passage))


def _sections(passage: Passage) -> list[Passage]:
    lines = passage.text.split("\n")
    starts = [place for place, line in enumerate(lines) if is_heading(line)]
    if not starts or passage.commented:
        return [passage]
    bounds = [*([0] if starts[0] else []), *starts, len(lines)]
    found: list[Passage] = []
    above: dict[int, str] = {}
    for start, stop in zip(bounds, bounds[1:], strict=False):
        title = _title(lines[start], above) or passage.title
        # A heading with nothing under it is only the title of what follows.
        if any(line.strip() for line in lines[start + 1 : stop]) or not is_heading(lines[start]):
            found.append(_part(passage, lines, start, stop, title))
    return found


def _title(line: str, above: dict[int, str]) -> str:
    """The headings over a section, the highest first; `above` is brought up to this one."""
    level = _LEVEL.match(line)
    if level:
        depth = len(level[1])
        for deeper in [each for each in above if each >= depth]:
            del above[deeper]
        above[depth] = heading_text(line)
    return " › ".join(above[each] for each in sorted(above))


def _part(passage: Passage, lines: Sequence[str], start: int, stop: int, title: str) -> Passage:
    first = passage.first_line + start
    return replace(
        passage,
        text="\n".join(lines[start:stop]),
        title=title,
        first_line=first,
        last_line=passage.first_line + stop - 1,
    )
