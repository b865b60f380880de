"""What is found in conversations, and how the words around it are shown; the same for every kind of index."""

import re
import unicodedata
from dataclasses import dataclass
from uuid import UUID

from assistants.models import Message

MAX_HITS = 200
MAX_WORDS = 16
# What a page shows of them.
MAX_THREADS = 20
MAX_PASSAGES = 3
# Control characters around what was found: no message holds them, so an excerpt can be cut apart safely.
OPENS, CLOSES = "\x02", "\x03"
SEARCHED_ROLES = (Message.Role.USER, Message.Role.ASSISTANT)


@dataclass(frozen=True)
class Hit:
    """A title (no message) or a message that holds all words; `excerpt` has `OPENS` and `CLOSES` around them."""

    thread_id: int
    message_id: UUID | None
    excerpt: str


def words_of(query: str) -> list[str]:
    """The words of what a person typed: whatever else stands there means nothing (S39a)."""
    return re.findall(r"[^\W_]+", query[:400])[:MAX_WORDS]


def marked(text: str, wanted: list[str]) -> str:
    """The stretch around the first word that was found, with marks; empty unless all words are there."""
    found: dict[str, re.Match[str]] = {}
    for token in re.finditer(r"[^\W_]+", text):
        known = plain(token[0])
        for word in wanted:
            if known == word or (word == wanted[-1] and known.startswith(word)):
                found.setdefault(word, token)
    if len(found) < len(set(wanted)):
        return ""
    first = min(found.values(), key=lambda token: token.start())
    start, end = max(first.start() - 60, 0), first.end() + 100
    lead, tail = "…" if start else "", "…" if end < len(text) else ""
    return f"{lead}{text[start : first.start()]}{OPENS}{first[0]}{CLOSES}{text[first.end() : end]}{tail}"


def plain(word: str) -> str:
    """The word without case and accents, as both sides of a comparison are read."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))
