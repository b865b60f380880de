"""Passages that a search or a reading brought, as values with their place in the document."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .segments import heading_text
from .talk import Result

# In such files a # begins a comment; elsewhere it is a heading.
_COMMENTED = re.compile(
    r"\.(cfg|cmake|conf|exs?|graphql|ini|jl|make|nix|pl|po|properties|ps1|pyi?|r|rb|sh|tcl|tf|toml|ya?ml)$", re.IGNORECASE
)
# A page or a sheet may be named before the lines.
_PLACE = re.compile(r"(?:^|\blines? )(\d+)(?:\D+(\d+))?$")


@dataclass(frozen=True)
class Passage:
    """Some lines of a document, verbatim. `first_line` is 0 when the place says no lines; `counted` says that `text` is
    exactly those lines, so that one can count to a sentence; `rank` is the search's order."""

    document: str
    text: str
    title: str = ""
    place: str = ""
    first_line: int = 0
    last_line: int = 0
    counted: bool = False
    rank: int = 0

    @property
    def commented(self) -> bool:
        """Whether a # begins a comment in it."""
        return bool(_COMMENTED.search(self.document))

    @property
    def name(self) -> str:
        """The file's name without its folder and ending, as words."""
        return re.sub(r"[-_.]+", " ", re.sub(r"\.\w{1,5}$", "", self.document.rsplit("/", 1)[-1])).strip()


def passages_of(results: Iterable[Result]) -> tuple[Passage, ...]:
    """The passages of search results and readings, each text once."""
    found: dict[tuple[str, str], Passage] = {}
    for result in results:
        for passage in _read(result):
            found.setdefault((passage.document, passage.text.strip()), passage)
    return tuple(found.values())


def total_of(results: Iterable[Result]) -> int:
    """How many hits the searches report."""
    totals = [result.data.get("total") for result in results]
    return max((each for each in totals if isinstance(each, int)), default=0)


def _read(result: Result) -> list[Passage]:
    data = result.data
    if isinstance(data.get("text"), str):
        start = data.get("start")
        first = start if isinstance(start, int) else 0
        last = first + data["text"].count("\n")
        name = str(data.get("document", ""))
        return [Passage(document=name, text=data["text"], first_line=first, last_line=last, counted=first > 0)]
    listed = data.get("results")
    items = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [_passage(item, rank) for rank, item in enumerate(items) if item.get("passage")]


def _passage(item: dict[str, Any], rank: int) -> Passage:
    text, place = str(item["passage"]), str(item.get("place") or "")
    found = _PLACE.search(place)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    return Passage(
        document=str(item.get("document") or ""),
        text=text,
        title=heading_text(str(item.get("title") or " ")),
        place=place,
        first_line=first,
        last_line=last,
        counted=bool(found) and text.count("\n") == last - first,
        rank=rank,
    )
