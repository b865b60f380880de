"""Finds and reads the document that a person means by a file's name, be it without its folder."""

import re

from .passages import passages_of
from .steps import Call, Need
from .talk import Result, Talk

FILE_NAME = re.compile(
    r"(?<![\w/.-])[\w./-]*\w\.(?:md|markdown|txt|rst|adoc|org|pdf|docx?|odt|html?|csv|tsv|json|ya?ml|toml|ini|cfg|log|tex|eml|"
    r"xlsx?|pptx?|py|js|ts|sql)\b",
    re.IGNORECASE,
)


def open_document(talk: Talk, name: str, *, start: int, lines: int) -> Need | Result | None:
    """The calls that are still needed, the lines that were read, or None if there is no such document.

    The name is read as it is first; if that is refused, a search for its words may bring the full name.
    """
    read = _read(talk, name, start, lines)
    if isinstance(read, Result):
        return read
    document = full_name(talk, name)
    if document != name:
        return _read(talk, document, start, lines)
    if read is not None:
        return read
    words = re.sub(r"[^\w]+", " ", name.rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip()
    search = talk.offers.fit("search_documents", query=words or name)
    if search is None or talk.result_of("search_documents", search):
        return None
    return Need((Call("search_documents", search),))


def full_name(talk: Talk, name: str) -> str:
    """The full name of a document that any result of the talk has named, else the name as given."""
    exchanges = (*talk.earlier, talk.now)
    documents = [each.document for exchange in reversed(exchanges) for each in passages_of(exchange.results)]
    return next((each for each in documents if is_named(each, name)), name)


def near_names(talk: Talk) -> tuple[str, ...]:
    """The names that a refused reading gave as near ones."""
    refused = (each.refusal.message for each in talk.now.results if each.tool == "read_document" and each.refusal)
    found = (re.search(r"Near it: ([^\n]+)\.\s*$", message) for message in refused)
    return tuple(dict.fromkeys(name for each in found if each for name in each[1].split(", ")))[:5]


def is_named(document: str, name: str) -> bool:
    """Whether the name is the document's own, or its end after a folder."""
    return f"/{document}".casefold().endswith(f"/{name}".casefold())


def _read(talk: Talk, document: str, start: int, lines: int) -> Need | Result | None:
    arguments = talk.offers.fit("read_document", document=document, start=start, lines=lines)
    if arguments is None:
        return None
    result = talk.result_of("read_document", arguments)
    if result is None:
        return Need((Call("read_document", arguments),))
    return result if isinstance(result.data.get("text"), str) else None
