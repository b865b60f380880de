"""Of when words are, where their document itself says so: nobody guesses it (A-44)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from .passages import Passage
from .phrases import MONTHS

_STATUSES = {
    "asOf": r"as of|stand",
    "updatedAt": r"last (?:updated|changed|modified)|updated(?: on)?|zuletzt (?:aktualisiert|geändert)|aktualisiert(?: am)?",
    "createdAt": r"created(?: on)?|erstellt(?: am)?",
}
_SAID = re.compile(rf"[\W_]*(?:{'|'.join(f'(?P<{status}>{words})' for status, words in _STATUSES.items())})\b", re.IGNORECASE)
_HEADER = re.compile(r"date:", re.IGNORECASE)
# A weekday may stand before the date, but no sentence.
_BETWEEN = re.compile(r"[\s:*_]*(?:(?:vom|am|of|on) )?(?:[A-Za-zä]{2,10}\.?, )?")
_MONTHS = {name[:3].lower(): number for names in MONTHS.values() for number, name in enumerate(names, 1)}
_FORMS = (
    re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)\b"),
    re.compile(r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})\b"),
    re.compile(r"(?P<d>\d{1,2})\.? (?P<name>[A-Za-zä]{3,9})\.? (?P<y>\d{4})\b"),
    re.compile(r"(?P<name>[A-Za-zä]{3,9})\.? (?P<d>\d{1,2}),? (?P<y>\d{4})\b"),
)
LONGEST = 160
FRONT = 20
"""So many lines a head of settings has at most."""


@dataclass(frozen=True)
class Dated:
    """What a line says of when the words below it are. `status` is asOf, updatedAt or createdAt, `day` ISO 8601."""

    status: str
    day: str
    basis: str


def dated(document: str, line: int, read: Iterable[Passage]) -> Dated | None:
    """What the nearest line above says that was read of the document; None if none says anything."""
    best: tuple[int, Dated] | None = None
    for passage in read:
        if passage.document != document or not passage.counted:
            continue
        lines = passage.text.split("\n")
        for number, text in enumerate(lines[: max(line - passage.first_line + 1, 0)], passage.first_line):
            found = _found(document, number, text, headed=lines[0].strip() == "---" and passage.first_line == 1)
            if found and (best is None or number >= best[0]):
                best = number, found
    return best[1] if best else None


def _found(document: str, number: int, text: str, *, headed: bool) -> Dated | None:
    if len(text) > LONGEST:
        return None
    said = _SAID.match(text)
    # A mail and a head of settings name their date so; elsewhere it may be that of anything.
    header = _HEADER.match(text) if document.lower().endswith(".eml") or (headed and number <= FRONT) else None
    if not (found := said or header) or not (day := day_in(text[found.end() :])):
        return None
    status = next((each for each in _STATUSES if said and said[each]), "createdAt")
    return Dated(status, day, " ".join(text.split()).strip("*_>#- "))


def day_in(text: str) -> str:
    """The date near the beginning of a text, as ISO 8601; empty if there is none, or one that no calendar has."""
    for form in _FORMS:
        found = form.search(text)
        if found and _BETWEEN.fullmatch(text, 0, found.start()):
            parts = found.groupdict()
            month = int(parts["m"]) if "m" in parts else _MONTHS.get(parts["name"][:3].lower(), 0)
            try:
                return date(int(parts["y"]), month, int(parts["d"])).isoformat()
            except ValueError:
                return ""
    return ""
