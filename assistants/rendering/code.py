"""Code blocks: a frame with language and copy button, highlighted by classes once the block is closed."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from django.utils.html import escape
from pygments.formatters import HtmlFormatter
from pygments.lexers import find_lexer_class_by_name, get_all_lexers
from pygments.token import _TokenType

from assistants.rendering.deadline import Deadline, RenderTimeout
from assistants.rendering.sanitize import sanitize_code

MAX_HIGHLIGHT_CHARS = 100_000
MAX_HIGHLIGHT_LINE = 2000
HIGHLIGHT_SECONDS = 0.4
# Growing lists are drawn again and again with the same closed code in them.
CACHED_CHARS = 16_000
LANGUAGE_CHARS = 24

# Asking the highlighter about a name it does not know makes it look through every installed distribution, for 30 ms.
_ALIASES = frozenset(alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases)
_formatter: HtmlFormatter[str] = HtmlFormatter(nowrap=True)
_NO_LANGUAGE = re.compile(r"[^\w+#.-]+")


def draw_code(code: str, *, info: str, closed: bool) -> str:
    """Draws a code block; `info` is the text behind the opening fence, and an open block is not highlighted (X7)."""
    language = name_language(info)
    inner = highlight(code, language=language) if closed else None
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
    return _NO_LANGUAGE.sub("", word)[:LANGUAGE_CHARS]


def highlight(code: str, *, language: str) -> str | None:
    """Highlighted and sanitised code; None for unknown languages, and for code too big to highlight in time (S37)."""
    alias = language.lower()
    longest = max(map(len, code.splitlines()), default=0)
    if alias not in _ALIASES or len(code) > MAX_HIGHLIGHT_CHARS or longest > MAX_HIGHLIGHT_LINE:
        return None
    return (_highlight_again if len(code) <= CACHED_CHARS else _highlight)(code, alias)


def _highlight(code: str, alias: str) -> str | None:
    lexer = find_lexer_class_by_name(alias)(stripnl=False, ensurenl=False)
    pieces = _Pieces()
    try:
        _formatter.format(_in_time(lexer.get_tokens(code)), pieces)
    except RenderTimeout:
        return None
    return sanitize_code("".join(pieces).rstrip())


_highlight_again = lru_cache(maxsize=256)(_highlight)


class _Pieces(list[str]):
    write = list.append


def _in_time(tokens: Iterable[tuple[_TokenType, str]]) -> Iterator[tuple[_TokenType, str]]:
    deadline = Deadline(HIGHLIGHT_SECONDS)
    for token in tokens:
        deadline.tick()
        yield token
