"""The search queries for a wish: its own words first, then kindred words for missing ones, then single words."""

from collections.abc import Iterable, Sequence

from .wish import Wish
from .words import Word, kindred_texts, strong

MAX_WORDS = 8
KINDRED = 5
ROUNDS = 3


def queries_of_round(
    number: int, wish: Wish, *, missing: Sequence[str], found_any: bool, before: Sequence[str]
) -> tuple[str, ...]:
    """The new queries of round 0, 1 or 2, after all of `before`; empty if such a round would bring nothing new.

    `missing` are the wish's words that nothing found so far carries, `found_any` says whether anything was found.
    """
    words = list(strong(wish.searched) or wish.searched)[:MAX_WORDS]
    candidates: tuple[str, ...] = ()
    if number == 0:
        candidates = (" ".join(word.text for word in words),)
    elif number == 1:
        candidates = _kindred(words, missing)
    elif not found_any:
        candidates = _single(words)
    known = {each.casefold() for each in before}
    return tuple(each for each in dict.fromkeys(candidates) if each and each.casefold() not in known)


def _kindred(words: Iterable[Word], missing: Sequence[str]) -> tuple[str, ...]:
    """One query in each language, with kindred words in the place of those that were not found."""
    found = []
    for half in (0, 1):
        texts: list[str] = []
        replaced = False
        for word in words:
            kindred = kindred_texts(word)[half][:KINDRED] if word.text in missing else ()
            replaced = replaced or any(each != word.folded for each in kindred)
            texts += kindred or (word.text,)
        if replaced:
            found.append(" ".join(dict.fromkeys(texts)))
    return tuple(found)


def _single(words: list[Word]) -> tuple[str, ...]:
    """The most telling words alone: long ones, names and numbers, in case the search wants all words at once."""
    if len(words) < 2:
        return ()
    telling = sorted(words, key=lambda word: (-_telling(word), words.index(word)))
    return tuple(word.text for word in telling[:3])


def _telling(word: Word) -> float:
    return len(word.text) + (4 if word.text[:1].isupper() else 0) + (2 if any(each.isdigit() for each in word.text) else 0)
