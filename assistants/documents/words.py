"""Words as the search compares them: without case and accents, cut to their stem, found inside of compounds."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_WORDS = 24
MAX_WORD = 60
# A German compound is searched by its parts; shorter words have none worth finding.
COMPOUND = 10
PART = 5
_WORD = re.compile(r"[^\W_]+(?:[-.,:][^\W_]+)*")
_PLAIN = re.compile(r"[^\W_]+")
# Every character that unicodedata.combining() knows. The few that most texts have at all are looked for first: a short
# pattern is many times as fast as a long one, and that as asking for each character.
_COMMON_MARKS = re.compile("[\u0300-\u036f]+")
_RARE = re.compile("[\u0483-\u1fff\u20d0-\u20ff\u2c00-\U0010ffff]")
_MARKS = re.compile("[" + "".join(chr(each) for each in range(0x300, 0x110000) if unicodedata.combining(chr(each))) + "]+")
_ENDINGS = ("ungen", "ments", "ings", "ing", "ied", "ies", "ern", "ers", "ed", "em", "er", "en", "es", "e", "n", "s", "y")
_SPELLED = (("ae", "a"), ("oe", "o"), ("ue", "u"))
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
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
    return _MARKS.sub("", plain) if _RARE.search(plain) else plain


def stem(folded: str) -> str:
    """What stays of an English or German word without its ending; at least four letters stay, numbers stay whole."""
    if not folded.isalpha():
        return folded
    for ending in _ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= 4:
            return folded[: -len(ending)]
    return folded


def plain_words(folded: str) -> list[str]:
    """The words of a folded text as the index cuts them."""
    return _PLAIN.findall(folded)


def compound_parts(folded: str) -> str:
    """The ends of all long words of a text, so that a word inside of another is found from its beginning."""
    words = {word for word in _PLAIN.findall(folded) if COMPOUND <= len(word) <= MAX_WORD and word.isalpha()}
    return " ".join(dict.fromkeys(end for word in sorted(words) for end in endings_of(word)))


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
