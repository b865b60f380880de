"""Markdown of a message that is still being written: finished blocks once, only the growing end again."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from assistants.rendering.code import frame, name_language
from assistants.rendering.deadline import Deadline, RenderTimeout
from assistants.rendering.markdown import MAX_MARKDOWN_CHARS, RENDER_SECONDS, Block, draw_block, parse_blocks
from assistants.rendering.plain import chunk_ends, clean_text, draw_chunk

logger = logging.getLogger(__name__)

_SPANNING = {"bullet_list_open", "ordered_list_open", "code_block"}
_FOREIGN = re.compile(r"[^\s\d*+-]")


@dataclass(frozen=True)
class Cursor:
    """What one reader has been given: everything up to this version. A new reader starts with `Cursor()`."""

    version: int = 0


@dataclass(frozen=True)
class _Slot:
    html: SafeString
    version: int


@dataclass(frozen=True)
class _OpenFence:
    """A fenced code block at the end of the text, so that its lines need no parsing as they come."""

    block: int
    language: str
    body: int
    closer: re.Pattern[str]


class MarkdownStream:
    """Renders one growing message for any number of readers.

    One thread updates; any thread may read. `"".join([*blocks, tail])` equals `render_markdown(text)` but for white space,
    with one exception: a finished block does not learn of a link reference that is defined after it, so the message is
    rendered once more when it is finished. `seconds` is the CPU time of the last update, for stretching the interval.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._text = ""
        self._slots: list[_Slot] = []
        self._version = 0
        self._shown = 0
        self._restart(plain=False)

    @property
    def blocks(self) -> list[SafeString]:
        """The HTML of the finished blocks."""
        return [slot.html for slot in self._slots[: self._finished]]

    @property
    def tail(self) -> SafeString:
        """The HTML of what may still change: the growing last block, for moments also the one before it."""
        return mark_safe("".join(slot.html for slot in self._slots[self._finished : self._shown]))

    def update(self, text: str) -> None:
        """Takes the whole text so far; one that does not continue what was finished (a new attempt) starts over."""
        started = thread_time()
        # Half of a line end or of a character waits for its other half.
        text = clean_text(text[:-1] if text[-1:] == "\r" or "\ud800" <= text[-1:] <= "\udbff" else text)
        if text == self._text:
            return
        grows = text.startswith(self._text)
        if not grows:
            self._restart(plain=False)
        if len(text) > MAX_MARKDOWN_CHARS and not self._plain:
            self._restart(plain=True)
        self._text, before = text, len(self._text)
        self._draw(before if grows else 0)
        self.seconds = thread_time() - started

    def frames(self, seen: Cursor) -> tuple[list[tuple[int, SafeString]], Cursor]:
        """What changed since `seen`, as (block number, HTML) in order, and the cursor for the next call.

        A block is handed out when it appears and again only when its HTML changed; empty HTML takes a block away.
        """
        # The version is read first and written last: a reader in another thread may get a block twice, but never miss one.
        version = self._version
        changed = [
            (number, slot.html)
            for number, slot in enumerate(self._slots)
            if slot.version > seen.version and (slot.html or seen.version)
        ]
        return changed, Cursor(version)

    def _restart(self, *, plain: bool) -> None:
        self._cut = 0
        self._finished = 0
        self._references: dict[str, Any] = {}
        self._fence: _OpenFence | None = None
        self._plain = plain

    def _draw(self, before: int) -> None:
        if not self._plain:
            try:
                return self._draw_open_fence() if self._is_inside_fence(before) else self._draw_markdown()
            except RenderTimeout:
                pass
            except Exception:
                logger.exception("A growing message of %d characters is shown as plain text", len(self._text))
            self._restart(plain=True)
        self._draw_plain()

    def _draw_markdown(self) -> None:
        deadline = Deadline(RENDER_SECONDS)
        rest = self._text[self._cut :]
        references = dict(self._references)
        blocks = parse_blocks(rest, deadline=deadline, references=references)
        lines = rest.split("\n")
        finished = _count_finished(blocks, lines)
        base = self._finished
        htmls = [draw_block(block, deadline=deadline) for block in blocks]
        if finished:
            end = blocks[finished - 1].end
            self._cut += sum(len(line) + 1 for line in lines[:end])
            self._references |= {k: v for k, v in references.items() if k not in self._references and v["map"][1] <= end}
        self._show(htmls, base=base, finished=finished)
        self._fence = self._note_open_fence(blocks, lines)

    def _draw_plain(self) -> None:
        ends = chunk_ends(self._text, self._cut)
        starts = [self._cut, *ends]
        pieces = [self._text[a:b] for a, b in zip(starts, [*ends, len(self._text)], strict=True) if a < b]
        self._cut = starts[-1]
        self._show([draw_chunk(piece) for piece in pieces], base=self._finished, finished=len(ends))

    def _show(self, htmls: Sequence[SafeString], *, base: int, finished: int) -> None:
        for number, html in enumerate(htmls, base):
            self._put(number, html)
        for number in range(base + len(htmls), self._shown):
            self._put(number, SafeString(""))
        self._finished, self._shown = base + finished, base + len(htmls)

    def _put(self, number: int, html: SafeString) -> None:
        if number < len(self._slots) and self._slots[number].html == html:
            return
        self._slots[number : number + 1] = [_Slot(html, self._version + 1)]
        self._version += 1

    def _note_open_fence(self, blocks: Sequence[Block], lines: Sequence[str]) -> _OpenFence | None:
        if not blocks or not blocks[-1].is_open_fence:
            return None
        token, first = blocks[-1].tokens[0], blocks[-1].first
        opening = lines[first]
        if first == len(lines) - 1 or opening[0] == " " or "|" in opening:
            return None
        mark, length = token.markup[0], len(token.markup)
        return _OpenFence(
            block=self._shown - 1,
            language=name_language(token.info),
            body=len(self._text) - sum(len(line) + 1 for line in lines[first + 1 :]) + 1,
            closer=re.compile(rf"^ {{0,3}}{mark}{{{length},}}[ \t]*$", re.MULTILINE),
        )

    def _is_inside_fence(self, before: int) -> bool:
        fence = self._fence
        if fence is None or before < fence.body:
            return False
        line = self._text.rfind("\n", 0, before) + 1
        return not fence.closer.search(self._text, line)

    def _draw_open_fence(self) -> None:
        fence = self._fence
        code = self._text[fence.body :].rstrip()
        self._put(fence.block, mark_safe(frame(escape(code), language=fence.language)))


def _count_finished(blocks: Sequence[Block], lines: Sequence[str]) -> int:
    """How many leading blocks no further text can change; the last line is not complete yet."""
    following = [block.first for block in blocks[1:]]
    for number, block in enumerate(blocks):
        if not _is_finished(block, following[number] if number < len(following) else None, lines):
            return number
    return len(blocks)


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
