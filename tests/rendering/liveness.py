"""Judges rendered HTML by a parser: what in it is outside of what a message may show."""

import re
from html.parser import HTMLParser

# Written out here, not imported: a wider allowlist in the code must not widen the judgement.
PLAIN = set("blockquote br del em h1 h2 h3 h4 h5 h6 hr s strong table tbody thead tr".split())  # noqa: SIM905
MATH = {
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
    "mtable": {"displaystyle", "scriptlevel", "class"},
    "mtd": {"columnspan", "class"},
    "munder": {"accentunder"},
    "munderover": {"accent", "accentunder"},
} | dict.fromkeys(
    "mmultiscripts mn mphantom mprescripts mroot ms msqrt msub msubsup msup mtext mtr".split(),  # noqa: SIM905
    set(),
)
ATTRIBUTES = (
    dict.fromkeys(PLAIN, set())
    | MATH
    | {
        "a": {"href", "rel", "target", "class"},
        "button": {"type", "class", "data-copy"},
        "code": {"class"},
        "div": {"class"},
        "li": {"class"},
        "ol": {"start", "class"},
        "p": set(),
        "pre": {"class", "tabindex"},
        "span": {"class"},
        "td": {"class"},
        "th": {"class"},
        "ul": {"class"},
    }
)
CLASSES = {
    "a": r"image-link",
    "button": r"copy",
    "code": r"highlight",
    "div": r"code|code-head|math|plain",
    "li": r"task",
    "mtable": r"(math-[a-z-]+ ?)*",
    "mtd": r"(math-[a-z-]+ ?)*",
    "ol": r"contains-task-list",
    "pre": r"math-source",
    "span": r"code-language|[a-z][a-z0-9]{0,2}|-Whitespace",
    "td": r"align-(left|center|right)",
    "th": r"align-(left|center|right)",
    "ul": r"contains-task-list",
}
VOID = {"br", "hr"}


def faults(html: str) -> list[str]:
    """What is live or broken in a message's HTML; empty for HTML that is safe to put into a page."""
    judge = _Judge()
    judge.feed(html)
    judge.close()
    return [*judge.faults, *(f"<{tag}> is never closed" for tag in judge.open)]


def links(html: str) -> list[dict[str, str]]:
    """The attributes of every link."""
    judge = _Judge()
    judge.feed(html)
    return judge.links


class _Judge(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.open: list[str] = []
        self.links: list[dict[str, str]] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in ATTRIBUTES:
            self.faults.append(f"<{tag}> is not allowed")
        elif extra := set(given) - ATTRIBUTES[tag]:
            self.faults.append(f"<{tag}> has {sorted(extra)}")
        if "class" in given and not re.fullmatch(CLASSES.get(tag, "-"), given["class"]):
            self.faults.append(f"<{tag}> has the class {given['class']!r}")
        if tag == "button" and self._inside[-1:] != ["code-head"]:
            self.faults.append("a button outside of a code block's head")
        if tag == "a":
            self._judge_link(given)
        if tag not in VOID:
            self.open.append(tag)
            self._inside.append(given.get("class", ""))

    def _judge_link(self, given: dict[str, str]) -> None:
        self.links.append(given)
        if "href" in given and not re.match(r"(https?://[^/]|mailto:[^/])", given["href"], re.IGNORECASE):
            self.faults.append(f"a link to {given.get('href')!r}")
        if given.get("rel") != "noopener noreferrer nofollow":
            self.faults.append(f"a link with rel={given.get('rel')!r}")
        if "a" in self.open:
            self.faults.append("a link in a link")

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1:] != [tag]:
            self.faults.append(f"</{tag}> closes {self.open[-1:]}")
            return
        self.open.pop()
        self._inside.pop()

    def handle_comment(self, data: str) -> None:
        self.faults.append("a comment")

    def handle_decl(self, decl: str) -> None:
        self.faults.append("a declaration")

    def unknown_decl(self, data: str) -> None:
        self.faults.append("a declaration")

    def handle_pi(self, data: str) -> None:
        self.faults.append("a processing instruction")
