"""The allowlists every piece of rendered HTML passes: prose, highlighted code, formulas."""

import re
import secrets

import nh3
from pygments.token import STANDARD_TYPES  # type: ignore[import-untyped]

# Parts that we make ourselves (code with its copy button, formulas) are put in after the prose was cleaned. Their places are
# marked with a class that nobody outside this process can know, so no text can claim one (S18).
SLOT = f"slot-{secrets.token_hex(8)}"
_SLOT = re.compile(rf'<(span|div) class="{SLOT}">(\d+)</\1>')

LINK_REL = "noopener noreferrer nofollow"
LINK_SCHEMES = frozenset({"http", "https", "mailto"})
_WEB_ADDRESS = re.compile(r"https?://[^/?#@:\\]+(?::\d*)?(?:[/?#]|$)|mailto:[^/]", re.IGNORECASE)

# fmt: off
PROSE_TAGS = frozenset(
    {
        "a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
        "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
    }
)
MATH_TAGS = frozenset(
    {
        "math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mprescripts",
        "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr",
        "munder", "munderover",
    }
)
# fmt: on
PROSE_CLASSES = {
    "a": {"image-link"},
    "div": {SLOT},
    "li": {"task"},
    "pre": {"math-source"},
    "span": {SLOT},
    "td": {"align-left", "align-center", "align-right"},
    "th": {"align-left", "align-center", "align-right"},
    "ul": {"contains-task-list"},
    "ol": {"contains-task-list"},
}
MATH_ATTRIBUTES = {
    "math": {"display"},
    "menclose": {"notation"},
    "mfrac": {"linethickness", "displaystyle", "scriptlevel"},
    "mi": {"mathvariant"},
    "mo": {"form", "largeop", "lspace", "maxsize", "minsize", "movablelimits", "rspace", "stretchy", "symmetric"},
    "mover": {"accent"},
    "mpadded": {"depth", "height", "lspace", "voffset", "width"},
    "mrow": {"displaystyle", "scriptlevel"},
    "mspace": {"depth", "height", "width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"displaystyle", "scriptlevel"},
    "mtd": {"columnspan"},
    "munder": {"accentunder"},
    "munderover": {"accent", "accentunder"},
}
MATH_CLASSES = {"math-left", "math-right", "math-fill", "math-wide", "math-gap"} | {
    f"math-line-{side}" for side in ("top", "right", "bottom", "left")
}

_prose = nh3.Cleaner(
    tags=PROSE_TAGS,
    clean_content_tags={"script", "style"},
    attributes={"a": {"href"}, "ol": {"start"}},
    allowed_classes=PROSE_CLASSES,
    set_tag_attribute_values={"a": {"target": "_blank"}},
    url_schemes=LINK_SCHEMES,
    url_relative="deny",
    link_rel=LINK_REL,
)
_code = nh3.Cleaner(
    tags={"span"}, attributes={}, allowed_classes={"span": set(filter(None, STANDARD_TYPES.values()))}, link_rel=None
)
_math = nh3.Cleaner(
    tags=MATH_TAGS,
    attributes=MATH_ATTRIBUTES,
    allowed_classes={tag: MATH_CLASSES for tag in ("mtable", "mtd")},
    link_rel=None,
)


def sanitize_prose(html: str, *, parts: list[str]) -> str:
    """Cleans one block and then puts our own parts into their slots; `parts[n]` goes where `slot(n)` stood (D9, S18-S21)."""
    clean = _prose.clean(html)
    return _SLOT.sub(lambda match: parts[int(match[2])], clean) if parts else clean


def sanitize_code(html: str) -> str:
    """Cleans highlighted code: text and `span` with the highlighter's own classes."""
    return _code.clean(html)


def sanitize_math(mathml: str) -> str:
    """Cleans a formula: MathML Core without ids, links, styles and annotations."""
    return _math.clean(mathml)


def slot(number: int, *, tag: str) -> str:
    """The place that our own part `number` takes in a block; `tag` is `span` in a line and `div` between blocks."""
    return f'<{tag} class="{SLOT}">{number}</{tag}>'


def is_web_address(href: str) -> bool:
    """Whether a link target leaves the page for the web or mail: absolute, with an allowed scheme (S20).

    An address with a name before its host (`https://bank.example@evil.example`) is refused: it is there to deceive.
    """
    return bool(_WEB_ADDRESS.match(href))
