"""Makes of a file's bytes what is stored of it: its text, the passages, and their words as the index takes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .conversion.converted import Converted
from .formats import ending_of, is_converted, join_sections, parse_document
from .passages import Cut, cut_passages
from .words import fold, parts_of, plain_words, stems_for


@dataclass(frozen=True)
class Columns:
    """A passage's words: the stems of those of its document's title and path, of its heading and place, and of its own;
    then, whole, its long words and their ends."""

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
    parsed = join_sections(path, convert(ending_of(path), data)) if is_converted(path) else parse_document(path, data)
    cuts = cut_passages(parsed.text, markup=parsed.markup, anchors=parsed.anchors)
    return Ready(parsed.title, parsed.text, parsed.note, tuple(cuts), _columns(f"{parsed.title} {as_words(path)}", cuts))


def _columns(names: str, cuts: Sequence[Cut]) -> tuple[Columns, ...]:
    named = plain_words(fold(names))
    bodies = [plain_words(fold(cut.text)) for cut in cuts]
    stem = stems_for([word for body in bodies[:10] for word in body]).__getitem__
    title = " ".join(map(stem, named))
    return tuple(
        Columns(
            title=title,
            heading=" ".join(map(stem, plain_words(fold(f"{cut.heading} {cut.anchor}")))),
            body=" ".join(map(stem, body)),
            parts=parts_of((*named, *body)),
        )
        for cut, body in zip(cuts, bodies, strict=True)
    )


def as_words(path: str) -> str:
    return path.replace("/", " ").replace("_", " ").replace("-", " ").rpartition(".")[0]
