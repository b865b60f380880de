"""Code blocks: a frame with language and copy button, highlighted by classes once the block is closed."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from time import thread_time
from typing import Any

from django.utils.html import escape
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import find_lexer_class_by_name  # type: ignore[import-untyped]

from assistants.rendering.deadline import RenderTimeout
from assistants.rendering.languages import LANGUAGES
from assistants.rendering.sanitize import sanitize_code

MAX_HIGHLIGHT_CHARS = 100_000
# Some languages take time by the square of a line's length, some by the square of the number of lines.
MAX_HIGHLIGHT_WIDTH = 500
MAX_HIGHLIGHT_LINES = 4000
HIGHLIGHT_SECONDS = 0.4
# What is no longer than this is highlighted at once, within about 4 ms.
SMALL_CHARS = 4000
LANGUAGE_CHARS = 24
_TOKENS_PER_PIECE = 256

_Token = tuple[Any, str]
Highlighter = Callable[[str, str], str | None]

_formatter = HtmlFormatter(nowrap=True)
_NOT_IN_NAMES = re.compile(r"[^\w+#.-]+")


def draw_code(code: str, *, info: str, highlight: Highlighter | None) -> str:
    """Draws a code block; `info` is the text behind the opening fence, and without a highlighter it stays plain (X7)."""
    language = name_language(info)
    inner = highlight(code, language) if highlight else None
    return frame(inner if inner is not None else escape(code.rstrip()), language=language)


def frame(inner: str, *, language: str) -> str:
    """Puts safe inner HTML into our frame, the only place that ever makes a copy button."""
    return (
        f'<div class="code"><div class="code-head"><span class="code-language">{escape(language)}</span>'
        '<button type="button" class="copy" data-copy>Copy</button></div>'
        f'<pre tabindex="0"><code class="highlight">{inner}</code></pre></div>\n'
    )


def name_language(info: str) -> str:
    """The first word behind the fence, at most 24 characters, without anything that is no part of a name."""
    word = info.strip().split(maxsplit=1)[0] if info.strip() else ""
    return _NOT_IN_NAMES.sub("", word)[:LANGUAGE_CHARS]


def highlight(code: str, language: str) -> str | None:
    """Highlighted and sanitised code; None for unknown languages, and for code too big to highlight in time (S37)."""
    if not _can_highlight(code, language):
        return None
    return _highlight_again(code, language.lower()) if len(code) <= SMALL_CHARS else _highlight(code, language.lower())


def load_languages() -> None:
    """Loads every language, for about one CPU second; at a server's start, since the first use of one may take 0.1 s."""
    for language in LANGUAGES:
        _highlight("x", language)


class PatientHighlighter:
    """Highlights small code at once and long code in slices, so that no step holds up anybody else (X7).

    Called like `highlight`; answers None, and `is_behind` says so, until `work` was called often enough.
    """

    def __init__(self) -> None:
        self.is_behind = False
        self._jobs: dict[tuple[str, str], tuple[Iterator[str], list[str]]] = {}
        self._done: dict[tuple[str, str], str | None] = {}

    def __call__(self, code: str, language: str) -> str | None:
        if len(code) <= SMALL_CHARS or not _can_highlight(code, language):
            return highlight(code, language)
        key = (code, language.lower())
        if key not in self._done:
            self._jobs.setdefault(key, (_pieces(*key), []))
            self.is_behind = True
        return self._done.get(key)

    def work(self, seconds: float) -> bool:
        """Goes on for so many CPU seconds; returns whether a code block was finished."""
        ends = thread_time() + seconds
        for key, (pieces, done) in list(self._jobs.items()):
            while thread_time() < ends:
                try:
                    done.append(next(pieces))
                except (StopIteration, RenderTimeout) as stop:
                    self._done[key] = "".join(done) if isinstance(stop, StopIteration) else None
                    del self._jobs[key]
                    return True
        return False

    def forget(self) -> None:
        """Drops everything begun and done."""
        self.is_behind = False
        self._jobs.clear()
        self._done.clear()


def _can_highlight(code: str, language: str) -> bool:
    if language.lower() not in LANGUAGES or len(code) > MAX_HIGHLIGHT_CHARS:
        return False
    lines = code.splitlines()
    return len(lines) <= MAX_HIGHLIGHT_LINES and max(map(len, lines), default=0) <= MAX_HIGHLIGHT_WIDTH


def _highlight(code: str, language: str) -> str | None:
    try:
        return "".join(_pieces(code, language))
    except RenderTimeout:
        return None


# Growing lists are drawn again and again with the same closed code in them.
_highlight_again = lru_cache(maxsize=256)(_highlight)


def _pieces(code: str, language: str) -> Iterator[str]:
    """Clean HTML in pieces of about a millisecond; raises RenderTimeout."""
    tokens = find_lexer_class_by_name(language)(stripnl=False).get_tokens(code.rstrip())
    left = HIGHLIGHT_SECONDS
    while True:
        started = thread_time()
        written = _Written()
        batch = list(islice(_until(started + left, tokens), _TOKENS_PER_PIECE))
        if not batch:
            return
        _formatter.format(batch, written)
        piece = sanitize_code("".join(written))
        left -= thread_time() - started
        yield piece


def _until(end: float, tokens: Iterable[_Token]) -> Iterator[_Token]:
    for number, token in enumerate(tokens):
        if number % 16 == 0 and thread_time() > end:
            raise RenderTimeout
        yield token


class _Written(list[str]):
    write = list.append
