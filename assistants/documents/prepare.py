"""Makes of a file's bytes what is stored of it: its text, the passages, and their words as the index takes them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from .conversion.converted import Converted
from .formats import is_converted, join_sections, parse_document
from .passages import Cut, cut_passages
from .words import compound_parts, fold


@dataclass(frozen=True)
class Columns:
    """A passage's words, folded: those of its document's title and path, of its heading and place, its own, and word ends."""

    title: str
    heading: str
    body: str
    parts: str


@dataclass(frozen=True)
class Ready:
    """A document. `columns` go with `cuts`, one for one; `note` says what of the file is not in the text (U3)."""

    title: str
    text: str
    note: str
    cuts: tuple[Cut, ...]
    columns: tuple[Columns, ...]


def prepare(path: str, data: bytes, convert: Callable[[str, bytes], Converted]) -> Ready:
    """Parses and cuts a file. `convert` turns files that are no text into some, given the ending of their name.

    Raises NotText, and whatever `convert` raises. Needs no database, so that another process can do it.
    """
    if is_converted(path):
        parsed = join_sections(path, convert(PurePosixPath(path).suffix.lower(), data))
    else:
        parsed = parse_document(path, data)
    cuts = cut_passages(parsed.text, markup=parsed.markup, anchors=parsed.anchors)
    title = fold(f"{parsed.title} {_as_words(path)}")
    columns = tuple(_columns(title, cut) for cut in cuts)
    return Ready(parsed.title, parsed.text, parsed.note, tuple(cuts), columns)


def _columns(title: str, cut: Cut) -> Columns:
    body = fold(cut.text)
    return Columns(title, fold(f"{cut.heading} {cut.anchor}".strip()), body, compound_parts(f"{title} {body}"))


def _as_words(path: str) -> str:
    return path.replace("/", " ").replace("_", " ").replace("-", " ").rpartition(".")[0]
