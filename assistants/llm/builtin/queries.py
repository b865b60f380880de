"""The search queries for a wish: its own words first, then kindred ones and fewer words, at most three rounds."""

from collections.abc import Iterable, Iterator

from .wish import Wish
from .words import Word, kindred_texts, strong

MAX_WORDS = 8


def query_rounds(wish: Wish) -> Iterator[tuple[str, ...]]:
    """Tuples of queries; the next round is for when the one before brought nothing good. Never the same query twice."""
    words = list(strong(wish.searched) or wish.searched)[:MAX_WORDS]
    known: set[str] = set()
    for candidates in (_plain(words), _kindred(words), _fewer(words)):
        fresh = tuple(dict.fromkeys(each for each in candidates if each and each.casefold() not in known))
        known.update(each.casefold() for each in fresh)
        if fresh:
            yield fresh


def _plain(words: Iterable[Word]) -> tuple[str, ...]:
    return (" ".join(word.text for word in words),)


def _kindred(words: list[Word]) -> tuple[str, ...]:
    """One query in each language; a word without kin stays as it is."""
    found = []
    for half in (0, 1):
        own = {word.folded for word in words}
        texts = [text for word in words for text in (kindred_texts(word)[half][:3] or (word.text,))]
        if any(text not in own for text in texts):
            found.append(" ".join(dict.fromkeys(texts)))
    return tuple(found)


def _fewer(words: list[Word]) -> tuple[str, ...]:
    """The most telling words alone: long ones, names and numbers, in case the search wants all words at once."""
    if len(words) < 2:
        return ()
    telling = sorted(words, key=lambda word: (-_telling(word), words.index(word)))
    return tuple(word.text for word in telling[:3])


def _telling(word: Word) -> float:
    return len(word.text) + (4 if word.text[:1].isupper() else 0) + (2 if any(each.isdigit() for each in word.text) else 0)
