"""Which blocks of a growing text no further text can change."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistants.rendering.code import name_language
from assistants.rendering.markdown import Block

_SPANNING = {"bullet_list_open", "ordered_list_open", "code_block"}
_FOREIGN = re.compile(r"[^\s\d*+-]")


@dataclass(frozen=True)
class OpenFence:
    """A fenced code block that has not ended; `body` is where its code starts in the text."""

    language: str
    body: int
    closer: re.Pattern[str]


def count_finished(blocks: Sequence[Block], lines: Sequence[str]) -> int:
    """How many leading blocks are finished, given the text's lines, of which the last is not complete yet."""
    following = [*(block.first for block in blocks[1:]), None]
    for number, (block, next_line) in enumerate(zip(blocks, following, strict=False)):
        if not _is_finished(block, next_line, lines):
            return number
    return len(blocks)


def find_open_fence(blocks: Sequence[Block], lines: Sequence[str], *, offset: int) -> OpenFence | None:
    """The code block at the end, whose further lines need only a look for the closing fence; `lines` start at `offset`."""
    if not blocks or not blocks[-1].is_open_fence:
        return None
    token, first = blocks[-1].tokens[0], blocks[-1].first
    opening = lines[first]
    if first == len(lines) - 1 or opening[0] == " " or "|" in opening:
        return None
    closer = rf"^ {{0,3}}{token.markup[0]}{{{len(token.markup)},}}[ \t]*$"
    body = offset + sum(len(line) + 1 for line in lines[: first + 1])
    return OpenFence(name_language(token.info), body, re.compile(closer, re.MULTILINE))


def _is_finished(block: Block, following: int | None, lines: Sequence[str]) -> bool:
    complete = len(lines) - 1
    # A line with a bar may turn out to be a table's head, which only the line below it tells.
    if following is not None and following + ("|" in lines[following]) < complete:
        return True
    if block.kind == "fence":
        return not block.is_open_fence and block.end <= complete
    if not any(n < complete and not lines[n].strip(" \t") for n in (block.end - 1, block.end)):
        return False
    # An empty line ends everything but these, which end with a line that cannot belong to them.
    return block.kind not in _SPANNING or (following is not None and _FOREIGN.match(lines[following]) is not None)
