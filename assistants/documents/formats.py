"""What kinds of files are read as documents, and how each becomes text in lines."""

import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from .table_text import table_to_text
from .web_page import read_page

MARKUP = frozenset({".md", ".markdown", ".txt", ".text", ".rst"})
PAGES = frozenset({".html", ".htm", ".xhtml"})
TABLES = frozenset({".csv", ".tsv"})
CODE = frozenset(
    """.adoc .asm .bat .bib .c .cc .cfg .clj .cmake .conf .cpp .cs .css .dart .diff .el .erl .ex .exs .f90 .fs .go .gradle
    .graphql .h .hpp .hs .ini .java .jl .js .jsx .kt .less .lisp .log .lua .m .make .ml .mm .nix .org .pas .patch .php .pl .po
    .properties .proto .ps1 .py .pyi .r .rb .rs .sass .scala .scss .sh .sql .svelte .swift .tcl .tex .tf .toml .ts .tsx .vb
    .vim .vue .xml .yaml .yml .zig""".split()
)
BARE_NAMES = frozenset({"readme", "license", "licence", "changelog", "authors", "notice", "makefile", "dockerfile", "todo"})
LONG_LINE = 2000
# Control characters do nothing in a document but break what shows it.
_CONTROL = {code: None for code in (*range(9), 11, *range(14, 32), 127)} | {12: "\n"}


class NotText(Exception):
    """The bytes are no text."""


@dataclass(frozen=True)
class Parsed:
    """A document's text in lines that end by a line feed. `markup` says whether its headings and fences mean something."""

    title: str
    text: str
    markup: bool


def is_readable(path: str) -> bool:
    """Whether files with this name are read as documents."""
    name = PurePosixPath(path)
    suffix = name.suffix.lower()
    return suffix in MARKUP | PAGES | TABLES | CODE or suffix == ".json" or name.name.lower() in BARE_NAMES


def parse_document(path: str, data: bytes) -> Parsed:
    """Turns a file's bytes into text, by the ending of its name. Raises NotText."""
    suffix = PurePosixPath(path).suffix.lower()
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
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROL)


def name_in_words(path: str) -> str:
    """The file's name without its ending, as words."""
    stem = PurePosixPath(path).stem
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
