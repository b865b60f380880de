"""What the bracketed numbers of a reply lead to; an upper app that numbers results registers where they stand."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.utils.html import format_html
from django.utils.translation import gettext as _

from assistants.models import Message

MARK = re.compile(r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]")
LAST = re.compile(rf"(?:{MARK.pattern}\s*)+\Z")
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Citation:
    """What a number stands for: an element of the same page, and its title as a reader knows it."""

    anchor: str
    title: str


Citations = Mapping[int, Citation]
_finders: list[Callable[[set[int]], Mapping[int, Citations]]] = []


def register_citations(find: Callable[[set[int]], Mapping[int, Citations]]) -> None:
    """Adds a source: `find` is asked for all turns of a page at once, by their ids, and answers for those with results."""
    _finders.append(find)


def citations_of(messages: Iterable[Message]) -> dict[UUID, Citations]:
    """What the numbers in these messages lead to; nobody is asked about messages without such marks."""
    marked = [each for each in messages if each.role == Message.Role.ASSISTANT and each.turn_id and MARK.search(each.text)]
    turns = {each.turn_id for each in marked if each.turn_id}
    known: dict[int, Citations] = {}
    for find in _finders if turns else ():
        known |= find(turns)
    return {each.pk: known[each.turn_id] for each in marked if each.turn_id in known}


def split_marks(text: str, citations: Citations, *, only_last: bool = False) -> list[tuple[str, str]]:
    """A stretch of text in pieces of (text, link); a link is our own HTML, made only for numbers that exist, else empty.

    With `only_last` the marks at its very end are meant, and no others.
    """
    pieces, end = [], 0
    begin = LAST.search(text) if only_last else None
    for mark in MARK.finditer(text, begin.start() if begin else len(text) if only_last else 0):
        for number in NUMBER.finditer(text, mark.start(), mark.end()):
            if citation := citations.get(int(number[0])):
                pieces += [(text[end : number.start()], ""), (number[0], _draw(number[0], citation))]
                end = number.end()
    return [*pieces, (text[end:], "")]


def _draw(number: str, citation: Citation) -> str:
    name = _("Result %(number)s: %(title)s") % {"number": number, "title": citation.title}
    return format_html('<a class="cite" href="#{}" aria-label="{}">{}</a>', citation.anchor, name, number)
