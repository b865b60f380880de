"""Opens a document by its name and shows some of its lines."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from assistants.errors import CodedError
from assistants.models import Document, DocumentRoot

from .indexing import refresh
from .searching import document_name
from .words import fold, plain_words

MAX_CHARS = 40_000
MOST_COMPARED = 5_000


@dataclass(frozen=True)
class Excerpt:
    """Lines `start` to `end` of a document of `total` lines. `cut` says that the last line is longer than shown, `place`
    on which page, sheet or slide they begin, where that is known."""

    document: str
    start: int
    end: int
    total: int
    text: str
    cut: bool = False
    place: str = ""


def read_lines(roots: Sequence[DocumentRoot], name: str, *, start: int, lines: int) -> Excerpt:
    """Some lines of a document, whole ones and at most 40,000 characters, so fewer lines than asked for if need be.

    `name` is `<root name>/<path>`, or just the path or the file's name where that is enough. A start behind the end
    gives no text. Raises `DOCUMENT_UNKNOWN` with the names that come near (S06: also for another tenant's document).
    """
    refresh(roots)
    document = find_document(roots, name)
    return cut_out(document.text, start, lines, document=document_name(document.root, document.path))


def cut_out(text: str, start: int, lines: int, *, document: str) -> Excerpt:
    """Whole lines of a text, as many as 40,000 characters hold; of a longer line its beginning."""
    every = text.split("\n")
    chosen: list[str] = []
    size = 0
    for line in every[start - 1 : start - 1 + lines]:
        size += len(line) + 1
        if size > MAX_CHARS:
            break
        chosen.append(line)
    cut = not chosen and start <= len(every)
    if cut:
        chosen = [every[start - 1][:MAX_CHARS]]
    end = start + len(chosen) - 1 if chosen else len(every)
    return Excerpt(document=document, start=start, end=end, total=len(every), text="\n".join(chosen), cut=cut)


def find_document(roots: Sequence[DocumentRoot], name: str) -> Document:
    """The document of that name in these roots. Raises `DOCUMENT_UNKNOWN`."""
    wanted = unicodedata.normalize("NFC", name.strip().strip("`\"'“”„"))
    documents = Document.objects.filter(root__in=roots).select_related("root").defer("text")
    for root in roots:
        if wanted.startswith(f"{root.name}/"):
            path = wanted[len(root.name) + 1 :]
            # A Mac writes accents as marks of their own.
            forms = {path, unicodedata.normalize("NFD", path)}
            if found := documents.filter(root=root, path__in=forms).first():
                return found
    named = {document_name(each.root, each.path): each for each in documents[:MOST_COMPARED]}
    folded = fold(wanted)
    ends = [each for full, each in named.items() if fold(full) == folded or fold(full).endswith(f"/{folded}")]
    if len(ends) == 1 and folded:
        return ends[0]
    raise _unknown(wanted, near_names(wanted, list(named)))


def near_names(wanted: str, names: Sequence[str]) -> list[str]:
    """Up to five names that look alike or share words, the nearest first."""
    alike = get_close_matches(wanted, names, n=3, cutoff=0.6)
    words = {word for word in plain_words(fold(wanted)) if len(word) > 2}
    shared = {name: len(words & set(plain_words(fold(name)))) for name in names}
    best = sorted((name for name in names if shared[name]), key=lambda name: -shared[name])
    return list(dict.fromkeys([*alike, *best]))[:5]


def _unknown(name: str, near: Sequence[str]) -> CodedError:
    hint = f" Near it: {', '.join(near)}." if near else ""
    return CodedError(
        code="DOCUMENT_UNKNOWN",
        field="document",
        message=f"There is no document “{name[:200]}”.{hint}",
        fix="Take a name from the results of search_documents.",
    )
