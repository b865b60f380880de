"""Words of English and German: how a text is cut into them, and how nearly two of them mean the same."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from .kindred import GROUPS
from .stopwords import GENERAL, STOP, WEAK

_TOKEN = re.compile(
    r"https?://\S+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}\b|\d+(?:[.,:/-]\d+)+|[^\W\d_]{1,12}-\d[^\W_]*(?:-[^\W_]+)*|[^\W_]+"
)
_PART = re.compile(r"[^\W_]+")
_SUFFIXES = ("ern", "em", "er", "en", "e", "n")
_INFLECTIONS = frozenset({"e", "n", "s", "en", "er", "es", "em", "ern"})
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)+")
_NO_CENTS = re.compile(r"(?<=\d)[.,]00$")


@dataclass(frozen=True)
class Word:
    """One word of a text: as written, folded (lower case, no accents) and stemmed. `weight` is 1 unless it says little."""

    text: str
    folded: str
    stem: str
    weight: float = 1.0


def words_of(text: str) -> tuple[Word, ...]:
    """Every word of a text in its order. A number such as 1.250,50, a code such as NL-12 and an address are one word."""
    return tuple(make_word(found.group()) for found in _TOKEN.finditer(text))


def bag_of(text: str) -> dict[str, Word]:
    """The different words of a text by their folded form, and the parts of those that hold a sign."""
    bag = {word.folded: word for word in words_of(text)}
    # 2.95 is no 2; the parts of a code, a date or an address are words of their own.
    for folded in [each for each in bag if not each.isalnum() and not _AMOUNT.fullmatch(each)]:
        bag |= {part: make_word(part) for part in _PART.findall(folded) if part not in bag}
    return bag


@lru_cache(maxsize=20_000)
def make_word(text: str, weight: float = 1.0) -> Word:
    """A word with its forms for comparison."""
    folded = fold(text)
    return Word(text=text, folded=folded, stem=stem(folded), weight=weight)


def content_words(text: str, language: str) -> tuple[Word, ...]:
    """The words that say what a request is about, each stem once: no stop words, weak ones with less weight."""
    found: dict[str, Word] = {}
    for place, word in enumerate(words_of(text)):
        if word.folded in STOP[language] or (len(word.folded) < 2 and not word.folded.isdigit()):
            continue
        found.setdefault(word.stem, make_word(word.text, _weight(word, language, first=not place)))
    return tuple(found.values())


def _weight(word: Word, language: str, *, first: bool) -> float:
    if word.folded in GENERAL:
        return 0.5
    # A capital letter inside of an English sentence makes a name: New York.
    name = language == "en" and not first and word.text[:1].isupper()
    return 0.3 if word.folded in WEAK[language] and not name else 1.0


def strong(words: Iterable[Word]) -> tuple[Word, ...]:
    """Only the words that carry a subject."""
    return tuple(word for word in words if word.weight >= 1)


def fold(text: str) -> str:
    """Lower case without accents, so that Kündigung and KUNDIGUNG are one."""
    lowered = text.casefold()
    if lowered.isascii():
        return lowered
    return "".join(each for each in unicodedata.normalize("NFKD", lowered) if not unicodedata.combining(each))


def stem(folded: str) -> str:
    """A light stem for both languages: plural, case and verb endings go, at least three letters stay."""
    word = folded
    if any(each.isdigit() for each in word):
        return _NO_CENTS.sub("", word)
    if len(word) <= 3:
        return word
    if word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    word = _without_verb_ending(word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word


def _without_verb_ending(word: str) -> str:
    for suffix in ("ing", "ed"):
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and len(rest) >= 3 and any(each in "aeiouy" for each in rest) and rest[-1] != "e":
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] != "s" and (rest[-1] != "l" or len(rest) > 4)
            return rest[:-1] if doubled else rest
    return word


def kin(word: Word) -> frozenset[str]:
    """The stems of the words of like meaning in either language, its own not among them."""
    return _KIN.get(word.stem, frozenset())


def kindred_texts(word: Word) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The (English, German) words of like meaning as they are written, for a wider search; for a compound such as
    Urlaubstage those of its parts."""
    stems = {word.stem} if word.stem in _KIN else {each for each in _KIN if _is_part(each, word.folded)}
    groups = [group for group in GROUPS if any(stem(fold(each)) in stems for half in group for each in half)]
    # In turns, since whoever takes only some of them wants something of each part.
    english, german = (
        [each for turn in zip_longest(*(group[half] for group in groups)) for each in turn if each] for half in (0, 1)
    )
    return tuple(dict.fromkeys(english)), tuple(dict.fromkeys(german))


@lru_cache(maxsize=20_000)
def parts_of(word: Word) -> tuple[Word, ...]:
    """The two words of a German compound such as Rückgabefrist, if both have kin in the other language; else nothing."""
    folded = word.folded
    if word.stem in _KIN or not folded.isalpha():
        return ()
    for cut in range(4, len(folded) - 3):
        for joint in ("", "s", "n", "es", "en"):
            first, second = folded[:cut], folded[cut:].removeprefix(joint)
            if folded[cut:].startswith(joint) and len(second) >= 4 and stem(first) in _KIN and stem(second) in _KIN:
                return make_word(first), make_word(second)
    return ()


def _is_part(known: str, compound: str) -> bool:
    return len(known) >= 4 and len(compound) >= len(known) + 3 and (compound.startswith(known) or compound.endswith(known))


def likeness(wanted: Word, found: Word) -> float:
    """How nearly `found` answers for `wanted`, 0..1: the same stem, a kindred word, or a part of a compound."""
    if wanted.stem == found.stem or _is_inflected(wanted.folded, found.folded):
        return 1.0
    kindred = kin(wanted)
    if found.stem in kindred:
        return 0.8
    if any(len(each) >= 5 and _is_part(each, found.folded) for each in kindred):
        return 0.6
    # A stem is shorter than its word: France would be found in Francisco if five letters of it were enough.
    return max(_compound(wanted.folded, found.folded, least=5), _compound(wanted.stem, found.stem, least=6))


def _is_inflected(one: str, other: str) -> bool:
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    ending = long[len(short) :]
    return long.startswith(short) and (ending == "s" or (len(short) >= 5 and ending in _INFLECTIONS))


def _compound(wanted: str, found: str, *, least: int) -> float:
    short, long = (wanted, found) if len(wanted) <= len(found) else (found, wanted)
    if len(short) < least:
        return 0.0
    begins = long.startswith(short) and len(short) * 2.5 >= len(long)
    if not begins and not (len(short) >= 6 and long.endswith(short)):
        return 0.0
    if any(each.isdigit() for each in short):
        return 0.0
    return 0.7 if begins else 0.6


def best_likeness(wanted: Word, found: Iterable[Word]) -> float:
    """The best of `likeness` over all found words."""
    return max((likeness(wanted, each) for each in found), default=0.0)


def _collect_kin() -> dict[str, frozenset[str]]:
    collected: dict[str, set[str]] = {}
    for group in GROUPS:
        stems = {stem(fold(each)) for half in group for each in half}
        for each in stems:
            collected.setdefault(each, set()).update(stems - {each})
    return {each: frozenset(others) for each, others in collected.items()}


_KIN = _collect_kin()
