"""The Markdown that is understood: CommonMark with tables, strikethrough, tasks, bare links and formulas, without HTML."""

import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, fence
from markdown_it.rules_core import StateCore, text_join
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath.index import math_inline_dollar
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

_TERMINATES = ["paragraph", "reference", "blockquote", "list"]
_CLOSING = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}

_dollar_math = math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True)
_MATH_SIGN = re.compile(r"[\\^_={}]")
_WORD = re.compile(r"[^\W\d_]{2,}")
# `\[1\]` and `\[draft\]` are escaped brackets far more often than formulas.
_ESCAPED_LABEL = re.compile(r"[\d\s,;–-]+|[^\W\d_]{3,}[\w\s.-]*")


class InlineCache:
    """The parsed lines of a text's last parsing, for a text that is parsed again with more at its end."""

    def __init__(self) -> None:
        self.references: dict[str, Any] = {}
        self.lines: dict[str, list[Token] | None] = {}


def make_parser(renderer: type[RendererHTML]) -> MarkdownIt:
    """Builds the one parser; `env` must hold `deadline` and an `inline_cache`; fences get `meta["closed"]`."""
    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False, "tasklists": True}, renderer_cls=renderer)
    parser.enable(["table", "strikethrough"])
    gfm_autolink_plugin(parser)
    parser.core.ruler.at("inline", _inline)
    parser.disable("text_join")
    parser.inline.ruler.before("text", "deadline", _inline_deadline)
    parser.inline.ruler.before("escape", "dollar_math", _dollar_formula)
    parser.inline.ruler.before("escape", "bracket_math", _bracket_formula)
    parser.block.ruler.before("table", "deadline", _block_deadline, {"alt": _TERMINATES})
    parser.block.ruler.at("fence", _fence, {"alt": _TERMINATES})
    parser.block.ruler.before("fence", "math_block", _formula_block, {"alt": _TERMINATES})
    # The rules are compiled on first use, half of them visible to a second thread meanwhile.
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        ruler.getRules("")
    return parser


def _inline(state: StateCore) -> None:
    cache: InlineCache = state.env["inline_cache"]
    known = cache.lines if cache.references == state.env["references"] else {}
    lines = [token for token in state.tokens if token.type == "inline"]
    fresh = [token for token in lines if token.content not in known]
    for token in fresh:
        token.children = state.md.inline.parse(token.content, state.md, state.env, [])
    _join_text(state, fresh)
    known = known | {token.content: token.children for token in fresh}
    for token in lines:
        token.children = known[token.content]
    # Only what this parsing uses is kept, or every state of a growing line would stay.
    cache.references, cache.lines = dict(state.env["references"]), {token.content: known[token.content] for token in lines}


def _join_text(state: StateCore, tokens: list[Token]) -> None:
    # Joining pieces of text changes tokens in place, which must happen to each of them once only.
    everything, state.tokens = state.tokens, tokens
    text_join(state)
    state.tokens = everything


def _inline_deadline(state: StateInline, silent: bool) -> bool:
    # These two characters start scans over the rest of the paragraph, so few of them may pass between two looks at the clock.
    deadline = state.env["deadline"]
    (deadline.check if state.src[state.pos] in ":@" else deadline.tick)()
    return False


def _block_deadline(state: StateBlock, first_line: int, end_line: int, silent: bool) -> bool:
    state.env["deadline"].tick()
    return False


def _dollar_formula(state: StateInline, silent: bool) -> bool:
    """`$x$` and `$$x$$` in a line, unless it reads as money or as shell variables (X4)."""
    start = state.pos
    if state.src[start] != "$" or not _dollar_math(state, True):
        return False
    markup = "$$" if state.src.startswith("$$", start) else "$"
    content = state.src[start + len(markup) : state.pos - len(markup)]
    if markup == "$" and _reads_as_prose(content, following=state.src[state.pos : state.pos + 1]):
        state.pos = start
        return False
    return _push_formula(state, silent, content, markup)


def _reads_as_prose(content: str, *, following: str) -> bool:
    if _MATH_SIGN.search(content) or not _WORD.search(content):
        return False
    return content[0].isdigit() or following.isalnum()


def _bracket_formula(state: StateInline, silent: bool) -> bool:
    r"""`\(x\)` and `\[x\]` in a line."""
    markup = state.src[state.pos : state.pos + 2]
    if markup not in ("\\(", "\\["):
        return False
    closing = _CLOSING[markup]
    # A remembered last position keeps a text full of openings linear.
    end = state.src.find(closing, state.pos + 2) if state.html_terminator_last(closing) > state.pos else -1
    content = state.src[state.pos + 2 : max(end, 0)].strip()
    if not content or (markup == "\\[" and _is_escaped_label(content, following=state.src[end + 2 : end + 3])):
        return False
    state.pos = end + 2
    return _push_formula(state, silent, content, markup)


def _is_escaped_label(content: str, *, following: str) -> bool:
    return following in ("(", "[", ":") or bool(_ESCAPED_LABEL.fullmatch(content))


def _push_formula(state: StateInline, silent: bool, content: str, markup: str) -> bool:
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = content, markup
    return True


def _fence(state: StateBlock, first_line: int, end_line: int, silent: bool) -> bool:
    if not fence(state, first_line, end_line, silent):
        return False
    if not silent:
        token = state.tokens[-1]
        last = state.line - 1
        text = state.src[state.bMarks[last] + state.tShift[last] : state.eMarks[last]].strip(" \t")
        token.meta["closed"] = last > first_line and len(text) >= len(token.markup) and not text.strip(token.markup[0])
    return True


def _formula_block(state: StateBlock, first_line: int, end_line: int, silent: bool) -> bool:
    r"""`$$` or `\[` at the start of a line, up to the line that ends with its counterpart.

    Whether a block starts is decided by its first line alone, so that a growing text never changes its mind about what it
    has already shown: without a counterpart before the next blank line the same lines are a paragraph.
    """
    first = _line(state, first_line)
    closing = _CLOSING.get(first[:2])
    if closing is None or state.is_code_block(first_line):
        return False
    at = first.find(closing, 2)
    if 0 <= at < len(first) - 2 or (at > 0 and (not first[2:at].strip() or _is_bare_label(first, at))):
        return False
    if silent:
        return True
    last, closed = first_line, at > 0
    while not closed and last + 1 < end_line and not state.isEmpty(last + 1) and state.sCount[last + 1] >= state.blkIndent:
        last += 1
        closed = _line(state, last).endswith(closing)
    state.line = last + 1
    text = state.getLines(first_line, last + 1, state.blkIndent, False).strip()
    if closed:
        token = state.push("formula_block", "math", 0)
        token.content, token.markup, token.map = text[2:-2], first[:2], [first_line, last + 1]
    else:
        _push_paragraph(state, text, [first_line, last + 1])
    return True


def _is_bare_label(line: str, end: int) -> bool:
    return line.startswith("\\[") and bool(_ESCAPED_LABEL.fullmatch(line[2:end].strip()))


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip(" \t")


def _push_paragraph(state: StateBlock, text: str, lines: list[int]) -> None:
    state.push("paragraph_open", "p", 1).map = lines
    token = state.push("inline", "", 0)
    token.content, token.map, token.children = text, lines, []
    state.push("paragraph_close", "p", -1)
