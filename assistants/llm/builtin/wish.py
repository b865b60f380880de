"""What a person wants to know: the words to look for, what is taken over from before, and the kind of answer."""

import re
from dataclasses import dataclass, replace

from .figures import wanted_figure
from .kinds import wanted_kind
from .phrases import PHRASES
from .words import Word, content_words, strong

MAX_WORDS = 24
"""A pasted page is not compared word by word with everything that is found: a reply is decided in milliseconds."""

_EARLIER = re.compile(
    r"\s*\((?:" + "|".join(re.escape(table["earlier"]) for table in PHRASES.values()) + r"): ([\s\S]*)\)\s*\Z"
)
_LISTING = re.compile(
    r"\b(which|what are|list|steps?|requirements?|how (do|does|can|to)|welche[rsn]?|wie (kann|geht|macht|beantrag\w*)|"
    r"schritte?|"
    r"liste|voraussetzungen)\b",
    re.IGNORECASE,
)
_EVERY_ONE = re.compile(
    r"\b(list|every|each of|all (?:the|our|your|of)|liste|alle[rn]?|jede[rsmn]?|sämtliche\w*)\b", re.IGNORECASE
)
_ASKING = re.compile(
    r"\?|^\s*(who|what|when|where|why|how|which|is|are|can|does|do|wer|was|wann|wo|warum|wie|welche\w*|ist|sind|kann|"
    r"darf|gibt|muss)\b",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"\b(everything|all (about|of)|alles|sämtliche|overview|überblick|"
    r"compare|comparison|differences?|vergleich\w*|unterschied\w*)\b",
    re.IGNORECASE,
)

_JOINED = re.compile(r"\b(and|or|vs|versus|between|und|oder|sowie|zwischen)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Wish:
    """One thing that is wanted. `text` is the person's own; `background` an earlier question that it continues; `figure` the
    kind of number that is asked for, `kind` the kind of any other answer; `every_one` says that all of something are."""

    text: str
    words: tuple[Word, ...]
    background: str = ""
    carried: tuple[Word, ...] = ()
    documents: tuple[str, ...] = ()
    settled: bool = False
    figure: str = ""
    kind: str = ""
    listing: bool = False
    every_one: bool = False
    asking: bool = False
    everything: bool = False
    joined: bool = False

    @property
    def numeric(self) -> bool:
        """Whether a figure is wanted."""
        return bool(self.figure)

    @property
    def searched(self) -> tuple[Word, ...]:
        """All words to look for: the own ones first, then those taken over."""
        own = {word.stem for word in self.words}
        return self.words + tuple(word for word in self.carried if word.stem not in own)

    @property
    def subject(self) -> str:
        """The words that carry the subject, as the person wrote them."""
        return " ".join(word.text for word in strong(self.searched) or self.searched)


def make_wish(text: str, language: str, background: str = "") -> Wish:
    """Reads one wish. A task that another engine wrote may carry the earlier question in brackets at its end."""
    if carried := _EARLIER.search(text):
        text, background = text[: carried.start()], carried[1]
    words = content_words(text, language)[:MAX_WORDS]
    wish = Wish(
        text=text.strip(),
        words=words,
        figure=wanted_figure(text, language),
        kind=wanted_kind(text),
        listing=bool(_LISTING.search(text)),
        every_one=bool(_EVERY_ONE.search(text)),
        asking=bool(_ASKING.search(text)),
        everything=bool(_EVERYTHING.search(text)),
        joined=bool(_JOINED.search(text)),
    )
    return carry_over(wish, background, language) if background else wish


def carry_over(wish: Wish, background: str, language: str) -> Wish:
    """The wish as a continuation of an earlier question; a new number replaces the old ones."""
    carried = content_words(background, language)[:MAX_WORDS]
    if any(_is_number(word) for word in wish.words):
        carried = tuple(word for word in carried if not _is_number(word))
    return replace(
        wish,
        background=background.strip(),
        carried=carried,
        figure=wish.figure or wanted_figure(background, language),
    )


def as_task(wish: Wish, language: str) -> str:
    """The wish as one text that can be understood without the talk (T-06)."""
    if not wish.background:
        return wish.text
    return f"{wish.text} ({PHRASES[language]['earlier']}: {wish.background})"


def _is_number(word: Word) -> bool:
    return any(each.isdigit() for each in word.text)
