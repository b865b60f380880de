"""Markdown to safe HTML, a whole message or block by block."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from assistants.rendering.citations import Citations, split_marks
from assistants.rendering.code import Highlighter, draw_code, highlight
from assistants.rendering.deadline import Deadline, RenderTimeout
from assistants.rendering.formulas import draw_formula, draw_source
from assistants.rendering.plain import clean_text, render_plain
from assistants.rendering.sanitize import is_web_address, sanitize_prose, slot
from assistants.rendering.syntax import InlineCache, make_parser

MAX_MARKDOWN_CHARS = 200 * 1024
RENDER_SECONDS = 1.0
_CLOSING = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}

logger = logging.getLogger(__name__)


def render_markdown(text: str, citations: Citations | None = None) -> SafeString:
    """Renders a whole message for a page; never raises, makes no request, and shows what it cannot render as plain text.

    Numbers in brackets that `citations` knows become links, but never in code or in links. Plain is what is longer than
    200 KB or costs more than a CPU second (D9, S18-S21, S31, S37, X1, X2, X4).
    """
    text = clean_text(text)
    if len(text) > MAX_MARKDOWN_CHARS:
        return render_plain(text)
    deadline = Deadline(RENDER_SECONDS)
    try:
        blocks = parse_blocks(text, deadline=deadline)
        return SafeString("".join(draw_block(block, deadline=deadline, citations=citations) for block in blocks))
    except RenderTimeout:
        return render_plain(text)
    except Exception:
        logger.exception("A message of %d characters could not be rendered and is shown as plain text", len(text))
        return render_plain(text)


@dataclass(frozen=True)
class Block:
    """One top-level block: its tokens, and the lines `first` to `end` (exclusive) that it takes."""

    tokens: Sequence[Token]
    first: int
    end: int

    @property
    def kind(self) -> str:
        """The type of its first token, such as `paragraph_open` or `fence`."""
        return self.tokens[0].type

    @property
    def is_open_fence(self) -> bool:
        """Whether it is a fenced code block whose end has not come."""
        return self.kind == "fence" and not self.tokens[0].meta["closed"]


def parse_blocks(
    text: str, *, deadline: Deadline, references: dict[str, Any] | None = None, cache: InlineCache | None = None
) -> list[Block]:
    """Splits clean text into its top-level blocks; raises RenderTimeout.

    `references` are the link definitions known already, and gets the new ones; `cache` is what the text's last parsing left.
    """
    env = {
        "deadline": deadline,
        "references": {} if references is None else references,
        "inline_cache": cache or InlineCache(),
    }
    tokens = _parser.parse(text, env)
    blocks, start = [], 0
    for position, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            first, end = tokens[start].map or [0, 0]
            blocks.append(Block(tokens[start : position + 1], first, end))
            start = position + 1
    return blocks


def draw_block(
    block: Block, *, deadline: Deadline, highlighter: Highlighter = highlight, citations: Citations | None = None
) -> SafeString:
    """Renders and sanitises one block; raises RenderTimeout."""
    deadline.check()
    env: dict[str, Any] = {"deadline": deadline, "highlighter": highlighter, "parts": [], "links": [], "quotes": []}
    env["citations"] = citations
    html = _parser.renderer.render(block.tokens, _parser.options, env)
    return mark_safe(sanitize_prose(html, parts=env["parts"]))


class _Renderer(RendererHTML):
    """Draws tokens; whatever is not prose is set aside in `env["parts"]` and leaves a slot."""

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        highlighter = env["highlighter"] if token.meta["closed"] else None
        return _set_aside(draw_code(token.content, info=token.info, highlight=highlighter), env, tag="div")

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _set_aside(draw_code(tokens[idx].content, info="", highlight=None), env, tag="div")

    def formula(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        mathml = draw_formula(token.content, display=token.markup in ("$$", "\\["))
        if mathml is None:
            return draw_source(token.content, opening=token.markup, closing=_CLOSING[token.markup])
        return _set_aside(mathml, env, tag="span")

    def formula_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        mathml = draw_formula(token.content, display=True)
        if mathml is None:
            source = draw_source(token.content, opening=token.markup, closing=_CLOSING[token.markup])
            return f'<pre class="math-source">{source}</pre>\n'
        return _set_aside(f'<div class="math">{mathml}</div>\n', env, tag="div")

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        text = tokens[idx].content
        # What a document says within a quote cites nothing: only the marks that stand behind it are the answer's.
        quoted = bool(env["quotes"])
        if not env["citations"] or env["links"] or (quoted and tokens[idx] is not env["quotes"][-1]):
            return escape(text)
        pieces = split_marks(text, env["citations"], only_last=quoted)
        return "".join(_set_aside(link, env, tag="span") if link else escape(words) for words, link in pieces)

    def blockquote_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        env["quotes"].append(_last_words(tokens, idx))
        return self.renderToken(tokens, idx, options, env)

    def blockquote_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        env["quotes"].pop()
        return self.renderToken(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Never an image, which would send a request unasked: a link with its description (X2, S31)."""
        token = tokens[idx]
        source = str(token.attrs["src"])
        label = escape(self.renderInlineAsText(token.children, options, env).strip() or source)
        if env["links"] or not is_web_address(source):
            return label
        return f'<a class="image-link" href="{escape(source)}">{label}</a>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        href = str(tokens[idx].attrs["href"])
        env["links"].append(is_web_address(href))
        return f'<a href="{escape(href)}">' if env["links"][-1] else ""

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</a>" if env["links"].pop() else ""

    def list_item_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        if "checked" not in tokens[idx].meta:
            return "<li>"
        return '<li class="task">' + ("" if _is_visible_paragraph(tokens[idx + 1]) else _task_box(tokens[idx]))

    def paragraph_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        box = _task_box(tokens[idx - 1]) if idx and _is_visible_paragraph(tokens[idx]) else ""
        return self.renderToken(tokens, idx, options, env) + box

    def th_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _cell(tokens[idx])

    def td_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _cell(tokens[idx])


def _set_aside(html: str, env: Any, *, tag: str) -> str:
    env["deadline"].check()
    env["parts"].append(html)
    return slot(len(env["parts"]) - 1, tag=tag)


def _last_words(tokens: Sequence[Token], opening: int) -> Token | None:
    """The last stretch of text of the quote that opens here."""
    last = None
    for token in tokens[opening + 1 :]:
        if token.type == "blockquote_close" and token.level == tokens[opening].level:
            break
        if token.type == "inline":
            children = token.children or []
            last = children[-1] if children and children[-1].type == "text" else None
    return last


def _is_visible_paragraph(token: Token) -> bool:
    return token.type == "paragraph_open" and not token.hidden


def _task_box(token: Token) -> str:
    return "☑ " if token.meta.get("checked") else "☐ " if "checked" in token.meta else ""


def _cell(token: Token) -> str:
    side = str(token.attrs.get("style", "")).removeprefix("text-align:")
    return f'<{token.tag} class="align-{side}">' if side else f"<{token.tag}>"


_parser = make_parser(_Renderer)
