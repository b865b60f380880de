"""Words as the search compares them: without case and accents, cut to their stem, found inside of compounds."""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import Stemmer  # type: ignore[import-not-found]

MAX_WORDS = 24
MAX_WORD = 60
# A German compound is searched by its parts; shorter words have none worth finding.
COMPOUND = 10
PART = 5
# So many words are remembered with their stems or parts.
MOST_KNOWN = 200_000
_WORD = re.compile(r"[^\W_]+(?:[-.,:][^\W_]+)*")
_PLAIN = re.compile(r"[^\W_]+")
_PARTED = bytes(each if chr(each).isalnum() else ord(" ") for each in range(128)) + bytes(128)
# Every character that unicodedata.combining() knows. The few that most texts have at all are looked for first: a short
# pattern is many times as fast as a long one, and that as asking for each character.
_COMMON_MARKS = re.compile("[\u0300-\u036f]+")
_RARE = re.compile("[\u0483-\u1fff\u20d0-\u20ff\u2c00-\U0010ffff]")
# No character behind this one is a combining mark. Each process that reads files looks for those before it.
LAST_MARK = 0x1EFFF
_ENDINGS = ("ungen", "ments", "ings", "ing", "ied", "ies", "ern", "ers", "ed", "em", "er", "en", "es", "e", "n", "s", "y")
_SPELLED = (("ae", "a"), ("oe", "o"), ("ue", "u"))
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_GERMAN = frozenset("das dem den der des die ein eine fur ist mit nicht sich und von werden wird zu zur".split())
_ENGLISH = frozenset("and are be by for from if is it not of on that the this to with you".split())
# So many words tell a document's language.
TELLING_WORDS = 1500
STOP_WORDS = frozenset(
    """a about all also am an and any are as at be been but by can could did do does for from get had has have he her his how i
    if in into is it its me my no not of on or our please she should so some than that the their them then there these they
    this to us was we were what when where which who why will with would you your
    aber als am an auch auf aus bei beim bin bis da das dass dem den der des die dies diese dieser doch du durch ein eine einem
    einen einer eines er es euch fur gibt hat haben ich ihr im ist kann kein keine mein meine mich mir mit muss nach nicht noch
    nur ob oder ohne sich sie sind so soll uber um und uns unser unsere vom von vor wann war warum was wenn wer werden wie wir
    wird wo zu zum zur""".split()
)


@dataclass(frozen=True)
class Term:
    """One word of a query: folded; its stem; other spellings. A number with signs inside, as in NL-12, is a phrase."""

    text: str
    stem: str
    spellings: tuple[str, ...] = ()

    @property
    def is_phrase(self) -> bool:
        return not self.text.isalnum()

    @property
    def stems(self) -> tuple[str, ...]:
        """What the index may hold for it, whichever language a document is in; the words of a phrase in one string."""
        return tuple(dict.fromkeys(form for text in (self.text, *self.spellings) for form in _stemmed(text)))

    @property
    def forms(self) -> tuple[str, ...]:
        """What to look for among whole words: its stems, and those of the words that a long one may end with."""
        return tuple(dict.fromkeys((*self.stems, *(form for end in self.ends for form in _stemmed(end)))))

    @property
    def may_be_part(self) -> bool:
        """Whether it is worth looking for inside of long words."""
        return self.stem.isalpha() and len(self.stem) >= PART

    @property
    def ends(self) -> tuple[str, ...]:
        """The ends of a long word that may be words of their own: `frist` of `rucksendefrist`."""
        return tuple(dict.fromkeys(end for form in (self.text, self.stem) if _is_compound(form) for end in endings_of(form)))


def terms_of(query: str) -> list[Term]:
    """The words of what was asked, in order and each once; whatever else stands there means nothing (S39a).

    Words that say nothing are left out unless there are no others.
    """
    found: dict[str, Term] = {}
    for word in _words(query[:1000]):
        text = fold(word)[:MAX_WORD].rstrip("-.,:")
        if text:
            found.setdefault(text, Term(text, stem(text), _spellings(word.casefold(), text)))
    telling = [term for text, term in found.items() if text not in STOP_WORDS]
    return (telling or list(found.values()))[:MAX_WORDS]


def _words(query: str) -> Iterator[str]:
    """Signs keep article numbers, dates and amounts together; words they part."""
    for match in _WORD.finditer(query):
        if any(each.isdigit() for each in match[0]):
            yield match[0]
        else:
            yield from _PLAIN.findall(match[0])


def fold(text: str) -> str:
    """Lower case without accents, `ß` as `ss`."""
    lowered = text.casefold()
    if lowered.isascii():
        return lowered
    plain = _COMMON_MARKS.sub("", unicodedata.normalize("NFKD", lowered))
    return _marks().sub("", plain) if _RARE.search(plain) else plain


@cache
def _marks() -> re.Pattern[str]:
    """Made when first needed: to ask for every character takes a while, and most texts have no rare one."""
    return re.compile(
        "[" + "".join(chr(each) for each in range(0x300, LAST_MARK + 1) if unicodedata.combining(chr(each))) + "]+"
    )


def stem(folded: str) -> str:
    """What stays of an English or German word without its ending; at least four letters stay, numbers stay whole."""
    if not folded.isalpha():
        return folded
    for ending in _ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= 4:
            return folded[: -len(ending)]
    return folded


class _Stems(dict[str, str]):
    """Snowball's stems of one language, each found only once. Its stemmer may be used by one thread at a time."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stemmer = Stemmer.Stemmer(language)
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> str:
        with self._lock:
            if len(self) >= MOST_KNOWN:
                self.clear()
            found: str = self._stemmer.stemWord(word)
            self[word] = found
        return found


ENGLISH, GERMAN = _Stems("english"), _Stems("german")


def stems_for(words: Sequence[str]) -> _Stems:
    """The stems of the language that these folded words are in, English or German, by its small words."""
    first = words[:TELLING_WORDS]
    return GERMAN if sum(map(_GERMAN.__contains__, first)) > sum(map(_ENGLISH.__contains__, first)) else ENGLISH


def _stemmed(text: str) -> tuple[str, ...]:
    words = plain_words(text)
    return tuple(" ".join(map(stems.__getitem__, words)) for stems in (ENGLISH, GERMAN))


def plain_words(folded: str) -> list[str]:
    """The words of a folded text as the index cuts them."""
    if folded.isascii():
        # The same in a third of the time.
        return folded.encode().translate(_PARTED).decode().split()
    return _PLAIN.findall(folded)


def parts_of(words: Iterable[str]) -> str:
    """The long words of these folded ones and all their ends, so that a word inside of another is found from its beginning."""
    return " ".join(filter(None, map(_PARTS.__getitem__, sorted({word for word in words if len(word) >= COMPOUND}))))


class _Parts(dict[str, str]):
    """A long word and its ends, each found only once; nothing for the others."""

    def __missing__(self, word: str) -> str:
        if len(self) >= MOST_KNOWN:
            self.clear()
        found = self[word] = " ".join((word, *endings_of(word))) if _is_compound(word) else ""
        return found


_PARTS = _Parts()


def endings_of(word: str) -> tuple[str, ...]:
    """`cksendefrist` to `frist` of `rucksendefrist`: every end of at least five letters behind at least three."""
    return tuple(word[start:] for start in range(3, len(word) - PART + 1))


def quality(term: Term, words: Iterable[str]) -> float:
    """How well the best of the words answers for the term, 0..1: itself, its stem, or a part of a compound."""
    return max((_likeness(term, word) for word in words), default=0.0)


def _likeness(term: Term, word: str) -> float:
    if word == term.text or word in term.spellings:
        return 1.0
    if len(term.stem) >= 3 and word.startswith(term.stem):
        return 0.9 if len(word) <= len(term.stem) + 4 else 0.7
    if _is_compound(word) and len(term.stem) >= PART and term.stem in word:
        return 0.6
    return 0.5 if word in term.ends else 0.0


def _is_compound(word: str) -> bool:
    return COMPOUND <= len(word) <= MAX_WORD and word.isalpha()


def _spellings(lowered: str, folded: str) -> tuple[str, ...]:
    """Umlauts may be written with an e on either side: Rueckgabe and Rückgabe."""
    other = folded
    for written, plain in _SPELLED:
        other = other.replace(written, plain)
    written_out = fold(lowered.translate(_UMLAUTS))
    return tuple(each for each in dict.fromkeys((other, written_out)) if each != folded)
