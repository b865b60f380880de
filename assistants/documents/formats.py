"""What kinds of files are read as documents, and how each becomes text in lines."""

import json
import re
from dataclasses import dataclass

from .conversion.converted import Converted
from .table_text import table_to_text
from .web_page import read_page

MARKUP = frozenset({".md", ".markdown", ".txt", ".text", ".rst"})
PAGES = frozenset({".html", ".htm", ".xhtml"})
TABLES = frozenset({".csv", ".tsv"})
# These are no text: a process of its own turns them into some.
CONVERTED = frozenset({".pdf", ".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".eml"})
CODE = frozenset(
    """.adoc .asm .bat .bib .c .cc .cfg .clj .cmake .conf .cpp .cs .css .dart .diff .el .erl .ex .exs .f90 .fs .go .gradle
    .graphql .h .hpp .hs .ini .java .jl .js .jsx .kt .less .lisp .log .lua .m .make .ml .mm .nix .org .pas .patch .php .pl .po
    .properties .proto .ps1 .py .pyi .r .rb .rs .sass .scala .scss .sh .sql .svelte .swift .tcl .tex .tf .toml .ts .tsx .vb
    .vim .vue .xml .yaml .yml .zig""".split()
)
READABLE = MARKUP | PAGES | TABLES | CODE | CONVERTED | {".json"}
BARE_NAMES = frozenset({"readme", "license", "licence", "changelog", "authors", "notice", "makefile", "dockerfile", "todo"})
LONG_LINE = 2000
# Control characters do nothing in a document but break what shows it.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]+")
_CONTROL_BYTES = bytes(each for each in range(128) if _CONTROL.match(chr(each)))


class NotText(Exception):
    """The bytes are no text."""


@dataclass(frozen=True)
class Anchor:
    """From this line on (from 1; a comment that says so itself) the text is that of a page, sheet or slide."""

    line: int
    label: str


@dataclass(frozen=True)
class Parsed:
    """A document's text in lines that end by a line feed. `markup` says whether its headings and fences mean something.

    `note` says what of the file is not in the text; empty if all is (U3).
    """

    title: str
    text: str
    markup: bool
    anchors: tuple[Anchor, ...] = ()
    note: str = ""


def is_marked_up(path: str) -> bool:
    """Whether the text of such a document may have Markdown's marks: it was written or converted so."""
    suffix = ending_of(path)
    return is_converted(path) or suffix in MARKUP | PAGES or not suffix


def is_readable(path: str) -> bool:
    """Whether files with this name are read as documents."""
    return ending_of(path) in READABLE or path.rpartition("/")[2].lower() in BARE_NAMES


def is_converted(path: str) -> bool:
    """Whether files with this name become text in a process of their own."""
    return ending_of(path) in CONVERTED


def ending_of(path: str) -> str:
    """The ending of a file's name with its dot, in lower case; empty if there is none. By hand: it is asked for often."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""


def parse_document(path: str, data: bytes) -> Parsed:
    """Turns the bytes of a file that is not converted into text, by the ending of its name. Raises NotText."""
    suffix = ending_of(path)
    text = decode_text(data)
    if suffix in PAGES:
        page = read_page(text)
        return Parsed(page.title or first_heading(page.text) or name_in_words(path), page.text, markup=True)
    if suffix in TABLES:
        return Parsed(name_in_words(path), table_to_text(text, "\t" if suffix == ".tsv" else ""), markup=False)
    if suffix == ".json":
        return Parsed(name_in_words(path), _spread(text), markup=False)
    markup = suffix in MARKUP or suffix == ""
    return Parsed((markup and first_heading(text)) or name_in_words(path), text, markup=markup)


def join_sections(path: str, converted: Converted) -> Parsed:
    """What a converted file becomes: its sections one after another, each below a comment that names its place."""
    lines: list[str] = []
    anchors = []
    for section in converted.sections:
        if section.label:
            lines += [""] if lines else []
            label = _on_one_line(section.label).replace("--", "-")[:100]
            lines.append(f"<!-- {label} -->")
            anchors.append(Anchor(len(lines), label))
        lines += _clean(section.text).split("\n")
    if converted.note:
        lines += ["", f"[Not all of this file is here: {_on_one_line(converted.note)}.]"]
    text = "\n".join(lines)
    title = _telling(_on_one_line(converted.title)) or (converted.markup and first_heading(text)) or name_in_words(path)
    return Parsed(title[:200], text, converted.markup, tuple(anchors), converted.note)


def _telling(title: str) -> str:
    """A title that a person gave, not the program."""
    return "" if re.match(r"(untitled|microsoft \w+ - |.*\.\w{2,5}$)", title, re.I) else title


def _on_one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    """Without control characters and halves of characters, which no database takes."""
    return _plain_lines(text).encode("utf-8", "replace").decode()


def _plain_lines(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    # The same in a fraction of the time.
    return lines.encode().translate(None, _CONTROL_BYTES).decode() if lines.isascii() else _CONTROL.sub("", lines)


def decode_text(data: bytes) -> str:
    """UTF-8 or UTF-16 by its mark, else UTF-8, else the old Windows encoding; with line feeds. Raises NotText."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data[:8192]:
        raise NotText
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
    return _plain_lines(text)


def name_in_words(path: str) -> str:
    """The file's name without its ending, as words."""
    name = path.rpartition("/")[2]
    stem = name.removesuffix(name[len(name) - len(ending_of(name)) :])
    return (re.sub(r"[-_.\s]+", " ", stem).strip() or stem)[:200]


def first_heading(text: str) -> str:
    """The first Markdown heading near the beginning, or the title in a front matter; empty if there is none."""
    lines = text.split("\n", 60)[:60]
    if lines[0].strip() == "---":
        named = next((line for line in lines if re.match(r"title:\s*\S", line, re.I)), "")
        if named:
            return named.partition(":")[2].strip(" \"'")[:200]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if found := re.match(r" {0,3}#{1,6}\s+(\S[^\n]*)", line):
            return re.sub(r"[*`_]", "", found[1][:400]).rstrip(" #")[:200]
        if line.strip(" -") and len(line) <= 120 and re.fullmatch(r"(={3,}|-{3,}|~{3,})\s*", following):
            return line.strip()[:200]
    return ""


def _spread(text: str) -> str:
    """JSON that was written in one line, one value to a line, so that places in it can be named."""
    if all(len(line) <= LONG_LINE for line in text.split("\n")):
        return text
    try:
        spread = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
        # An escape may stand for half a character, which no database takes.
        return spread.encode("utf-8", "replace").decode()
    except (ValueError, RecursionError):
        return text
