"""A web page as plain text with Markdown's marks for headings, lists and tables. Reads any page in one pass."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

# A tag's inner text is dropped with it.
SILENT = ("script", "style", "noscript", "template", "svg", "iframe", "textarea", "select", "object")
BREAKS = frozenset(
    """address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr li main nav
    ol p pre section summary table tbody td tfoot th thead tr ul h1 h2 h3 h4 h5 h6 br""".split()
)
PARAGRAPHS = BREAKS - {"li", "tr", "td", "th", "br", "dd", "dt", "thead", "tbody", "tfoot"}
FENCE = "```"
_TAG_NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9]*)")
_MANY_BLANK_LINES = re.compile(r"\n{3,}")

Token = tuple[str, str]


@dataclass(frozen=True)
class Page:
    """A page's title and its text."""

    title: str
    text: str


def read_page(source: str) -> Page:
    """Takes tags, comments, scripts and styles away. Takes time linear in the page's length, however broken it is."""
    writer = _Writer()
    for kind, value in _tokens(source):
        if kind == "text":
            writer.write(unescape(value))
        elif kind == "open":
            writer.open(value)
        else:
            writer.close(value)
    return Page(title=writer.title, text=writer.finish())


def _tokens(source: str) -> Iterator[Token]:
    """Text, opening and closing tags. Each search goes on where the last one ended, and a vain one ends the page."""
    text_from = place = 0
    while (start := source.find("<", place)) >= 0:
        name = _TAG_NAME.match(source, start + 1)
        if name is None and source[start + 1 : start + 2] not in ("!", "?", "/"):
            place = start + 1
            continue
        if start > text_from:
            yield "text", source[text_from:start]
        tag = name[1].lower() if name else ""
        if name is None:
            place = _after(source, "-->" if source.startswith("<!--", start) else ">", start + 1)
        else:
            place = _after(source, ">", name.end())
            if source[start + 1] == "/":
                yield "close", tag
            elif tag in SILENT:
                place = _after_silent(source, tag, place)
            else:
                yield "open", tag
        text_from = place
    if text_from < len(source):
        yield "text", source[text_from:]


def _after(source: str, mark: str, place: int) -> int:
    found = source.find(mark, place)
    return len(source) if found < 0 else found + len(mark)


def _after_silent(source: str, tag: str, place: int) -> int:
    found = _END_OF[tag].search(source, place)
    return _after(source, ">", found.end()) if found else len(source)


_END_OF = {tag: re.compile(f"</{tag}", re.I) for tag in SILENT}


class _Writer:
    """Puts the pieces together: blank lines between paragraphs, marks before headings, items, cells and code."""

    def __init__(self) -> None:
        self._title: list[str] = []
        self._parts: list[str] = []
        self._cells: list[list[str]] | None = None
        self._titled = self._in_title = self._in_code = False

    @property
    def title(self) -> str:
        return " ".join("".join(self._title).split())[:200]

    def open(self, tag: str) -> None:
        """What a tag does when it begins."""
        if tag == "title":
            self._in_title, self._titled = not self._titled, True
        elif tag == "tr":
            self._end_row()
            self._cells = []
        elif tag in ("td", "th") and self._cells is not None:
            self._cells.append([])
        elif tag == "pre":
            self._fence(opening=True)
        elif tag in BREAKS:
            self._break(tag)
            if self._cells is None:
                self._parts.append(_mark_of(tag))

    def close(self, tag: str) -> None:
        """What a tag does when it ends."""
        if tag == "title":
            self._in_title = False
        elif tag in ("tr", "table"):
            self._end_row()
            if tag == "table":
                self._parts.append("\n\n")
        elif tag == "pre":
            self._fence(opening=False)
        elif tag in PARAGRAPHS:
            self._break(tag)

    def write(self, text: str) -> None:
        """Adds text where the page stands."""
        if self._in_title:
            self._title.append(text[:500] if len(self._title) < 20 else "")
        elif self._cells is not None:
            if self._cells:
                self._cells[-1].append(text)
        elif self._in_code:
            self._parts.append(text)
        else:
            self._parts.append(re.sub(r"\s+", " ", text))

    def finish(self) -> str:
        """The whole text."""
        self._end_row()
        self._fence(opening=False)
        lines, in_code = [], False
        for line in "".join(self._parts).split("\n"):
            in_code ^= line == FENCE
            lines.append(line.rstrip() if in_code else " ".join(line.split()))
        return _MANY_BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")

    def _break(self, tag: str) -> None:
        if self._cells is not None:
            self.write(" ")
        else:
            self._parts.append("\n\n" if tag in PARAGRAPHS else "\n")

    def _fence(self, *, opening: bool) -> None:
        if self._cells is None and opening != self._in_code:
            self._parts.append(f"\n\n{FENCE}\n" if opening else f"\n{FENCE}\n\n")
            self._in_code = opening

    def _end_row(self) -> None:
        cells, self._cells = self._cells, None
        texts = [" ".join("".join(pieces).split()).replace("|", "/") for pieces in cells or ()]
        if any(texts):
            self._parts.append("\n| " + " | ".join(texts) + " |")


def _mark_of(tag: str) -> str:
    if tag == "li":
        return "- "
    return "#" * int(tag[1]) + " " if len(tag) == 2 and tag[1].isdigit() else ""
