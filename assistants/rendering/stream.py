"""Markdown of a message that is still being written: finished blocks once, only the growing end again."""

import logging
from collections.abc import Sequence
from time import thread_time
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from assistants.rendering.boundaries import OpenFence, count_finished, find_open_fence
from assistants.rendering.code import PatientHighlighter, frame
from assistants.rendering.deadline import Deadline, RenderTimeout
from assistants.rendering.markdown import MAX_MARKDOWN_CHARS, Block, draw_block, parse_blocks
from assistants.rendering.open_line import OpenLine, find_open_line
from assistants.rendering.plain import chunk_ends, clean_text, draw_chunk
from assistants.rendering.readers import Cursor, Growing, Pieces
from assistants.rendering.syntax import InlineCache

__all__ = ["Cursor", "MarkdownStream"]

# Updates run where others wait for them, so they get less time than a whole message does.
UPDATE_SECONDS = 0.15
HIGHLIGHT_SLICE_SECONDS = 0.002

logger = logging.getLogger(__name__)


class MarkdownStream:
    """Renders one growing message for any number of readers.

    One thread at a time updates; any thread may read. `"".join([*blocks, tail])` equals `render_markdown(text)` but for white
    space, with three exceptions, for which a finished message is rendered once more: a finished block does not learn of a link
    reference that is defined after it; long code is highlighted over the next updates (`is_behind`); and an update that takes
    too long shows the message as plain text. `seconds` is the CPU time of the last update, for stretching the interval.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._given = self._text = ""
        self._pieces = Pieces()
        self._shown = 0
        self._attempt = 0
        self._highlighter = PatientHighlighter()
        self._restart(plain=False)

    @property
    def blocks(self) -> list[SafeString]:
        """The HTML of the finished blocks."""
        return self._pieces[: self._finished]

    @property
    def tail(self) -> SafeString:
        """The HTML of what may still change: the growing last block, for moments also the one before it."""
        return SafeString("".join(self._pieces[self._finished : self._shown]))

    @property
    def is_behind(self) -> bool:
        """Whether further calls of `update`, even with the same text, will highlight more code."""
        return bool(self._waiting)

    def update(self, text: str) -> None:
        """Takes the whole text so far; one that does not continue the last one (a new attempt) starts over."""
        started = thread_time()
        if text != self._given:
            self._given = text
            self._take(clean_text(text))
        if self._waiting and self._highlighter.work(HIGHLIGHT_SLICE_SECONDS):
            self._draw_again()
        self.seconds = thread_time() - started

    def frames(self, seen: Cursor, *, additions: bool = False) -> tuple[list[tuple[int, SafeString]], Cursor]:
        """What changed since `seen`, as (block number, HTML) in order, and the cursor for the next call.

        A block is handed out when it appears and again only when its HTML changed; empty HTML takes a block away.
        With `additions`, a reader who has the beginning of a growing code block or line gets an `Addition` to it instead.
        """
        return self._pieces.frames(seen, additions=additions)

    def _restart(self, *, plain: bool) -> None:
        self._attempt += 1
        self._cut = 0
        self._finished = 0
        self._references: dict[str, Any] = {}
        self._fence: OpenFence | None = None
        self._line: OpenLine | None = None
        self._cache = InlineCache()
        self._plain = plain
        self._waiting: dict[int, Block] = {}
        self._highlighter.forget()

    def _take(self, text: str) -> None:
        if not text.startswith(self._text):
            self._restart(plain=False)
        if len(text) > MAX_MARKDOWN_CHARS and not self._plain:
            self._restart(plain=True)
        before, self._text = len(self._text), text
        if not self._plain:
            try:
                return self._draw_more(before)
            except RenderTimeout:
                pass
            except Exception:
                logger.exception("A growing message of %d characters is shown as plain text", len(text))
            self._restart(plain=True)
        self._draw_plain()

    def _draw_more(self, before: int) -> None:
        if self._fence:
            return self._draw_code(self._fence, before)
        if not self._line or not self._draw_words(self._line, self._text[before:]):
            self._draw_markdown()

    def _draw_words(self, line: OpenLine, more: str) -> bool:
        html = line.extend(more)
        if html is not None:
            self._pieces.put(self._shown - 1, html, Growing(self._line_key, line.added))
        return html is not None

    def _draw_code(self, fence: OpenFence, before: int) -> None:
        if fence.closer.search(self._text, self._text.rfind("\n", 0, before) + 1):
            return self._draw_markdown()
        code = self._text[fence.body :].rstrip()
        html = mark_safe(frame(escape(code), language=fence.language))
        self._pieces.put(self._shown - 1, html, Growing((self._attempt, fence.body), code, is_code=True))

    def _draw_markdown(self) -> None:
        deadline = Deadline(UPDATE_SECONDS)
        offset, rest = self._cut, self._text[self._cut :]
        lines = rest.split("\n")
        references = dict(self._references)
        blocks = parse_blocks(rest, deadline=deadline, references=references, cache=self._cache)
        htmls = [self._draw(number, block, deadline) for number, block in enumerate(blocks, self._finished)]
        finished = count_finished(blocks, lines)
        if finished:
            end = blocks[finished - 1].end
            self._cut += sum(len(line) + 1 for line in lines[:end])
            self._references |= {k: v for k, v in references.items() if k not in self._references and v["map"][1] <= end}
        self._line = find_open_line(blocks, htmls[-1], rest) if htmls else None
        # Below zero, for no code block to have the same.
        self._line_key = (self._attempt, -len(self._text))
        self._show(htmls, finished, Growing(self._line_key, "") if self._line else None)
        self._fence = find_open_fence(blocks, lines, offset=offset)

    def _draw(self, number: int, block: Block, deadline: Deadline) -> SafeString:
        self._highlighter.is_behind = False
        html = draw_block(block, deadline=deadline, highlighter=self._highlighter)
        self._waiting.pop(number, None)
        if self._highlighter.is_behind:
            self._waiting[number] = block
        return html

    def _draw_again(self) -> None:
        deadline = Deadline(UPDATE_SECONDS)
        for number, block in list(self._waiting.items()):
            self._pieces.put(number, self._draw(number, block, deadline))
        if not self._waiting:
            self._highlighter.forget()

    def _draw_plain(self) -> None:
        ends = chunk_ends(self._text, self._cut)
        starts = [self._cut, *ends]
        chunks = [self._text[a:b] for a, b in zip(starts, [*ends, len(self._text)], strict=True) if a < b]
        self._cut = starts[-1]
        self._show([draw_chunk(chunk) for chunk in chunks], len(ends))

    def _show(self, htmls: Sequence[SafeString], finished: int, growing: Growing | None = None) -> None:
        first, end = self._finished, self._finished + len(htmls)
        for number, html in enumerate(htmls, first):
            self._pieces.put(number, html, growing if number == end - 1 else None)
        for number in range(end, self._shown):
            self._pieces.put(number, SafeString(""))
        self._waiting = {number: block for number, block in self._waiting.items() if number < end}
        self._finished, self._shown = first + finished, end
