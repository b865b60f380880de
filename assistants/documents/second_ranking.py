"""Ranks the passages that an index found once more: by how near their words stand, and by the rest of their document."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .prepare import as_words
from .ranked import Ranked
from .words import COMPOUND, ENGLISH, GERMAN, Term, fold, plain_words, quality

# How soon a word that is said again counts no more, and how much a long passage loses (BM25).
SATURATION, LENGTH = 1.2, 0.75
# What a word counts in a document's title and path, beside one in its text; and as a part of a longer word.
IN_TITLE, AS_PART = 2.0, 0.5
# What a passage gains if all words stand together in it, in so many words, and what it gains by its document's best ones.
TOGETHER, WINDOW = 1.0, 12
OF_DOCUMENT, BEST_OF_DOCUMENT = 0.3, 3


class Row(NamedTuple):
    """A passage with what is shown of its document, without the cost of model objects."""

    pk: int
    first_line: int
    last_line: int
    heading: str
    anchor: str
    text: str
    title: str
    path: str
    root_id: int
    root: str


# A word that answers: its position, the place of its term, and what it counts.
Answer = tuple[int, int, float]


def rank(terms: Sequence[Term], rows: Sequence[Row], ranked: Ranked) -> list[tuple[Row, float]]:
    """All rows, the best first, each with a score between 0 and 1.

    By the index's own rank, or where that is too rough by how often they say each of the words (BM25 over title, heading
    and text), raised where the words stand together, and for passages of a document that has other good ones. The best
    one's score says how many of the words it has together, that of the others how near they come to it.
    """
    words = [_Words.of(row) for row in rows]
    answers = _answers(terms, words)
    phrases = {place: plain_words(term.text) for place, term in enumerate(terms) if term.is_phrase}
    usual = max(sum(len(each.body) for each in words) / max(len(rows), 1), 1.0)
    together, scores = {}, {}
    of_document = defaultdict(list)
    for row, said in zip(rows, words, strict=True):
        body = _found(said.body, answers, phrases)
        score = ranked.ranks[row.pk]
        if ranked.rarity:
            counts = _counts([*body, *_found(said.heading, answers, phrases)], _found(said.title, answers, phrases))
            enough = SATURATION * (1 - LENGTH + LENGTH * len(said.body) / usual)
            score = sum(ranked.rarity[place] * count / (count + enough) for place, count in counts.items())
        together[row.pk] = _most_within(body, WINDOW) / max(len(terms), 1)
        scores[row.pk] = score * (1 + TOGETHER * together[row.pk])
        of_document[row.root_id, row.path].append(scores[row.pk])
    means = {key: sum(sorted(each)[-BEST_OF_DOCUMENT:]) / BEST_OF_DOCUMENT for key, each in of_document.items()}
    totals = {row.pk: scores[row.pk] + OF_DOCUMENT * means[row.root_id, row.path] for row in rows}
    ordered = sorted(rows, key=lambda row: (-totals[row.pk], row.path, row.first_line))
    best = (0.5 + 0.5 * together[ordered[0].pk]) / (totals[ordered[0].pk] or 1.0) if ordered else 0.0
    return [(row, round(best * totals[row.pk], 3)) for row in ordered]


class _Words(NamedTuple):
    """The folded words of a passage, of its heading and place, and of its document's title and path."""

    body: list[str]
    heading: list[str]
    title: list[str]

    @classmethod
    def of(cls, row: Row) -> "_Words":
        named = (row.text, f"{row.heading} {row.anchor}", f"{row.title} {as_words(row.path)}")
        return cls(*(plain_words(fold(each)) for each in named))


def _answers(terms: Sequence[Term], words: Iterable[_Words]) -> dict[str, tuple[int, float]]:
    """Those of the words that answer for a term, with its place and what they count. Each is looked at only once."""
    every = set().union(*(part for each in words for part in each))
    stems = {form: place for place, term in reversed(list(enumerate(terms))) for form in term.stems}
    found = {
        word: (stems.get(ENGLISH[word], stems.get(GERMAN[word], 0)), 1.0)
        for word in every
        if ENGLISH[word] in stems or GERMAN[word] in stems
    }
    parts = re.compile("|".join(map(re.escape, sorted({form for term in terms for form in (term.stem, *term.ends)}))))
    for word in every:
        if len(word) >= COMPOUND and word not in found and parts.search(word):
            likeness, place = max((quality(term, (word,)), -place) for place, term in enumerate(terms))
            if likeness >= 0.5:
                found[word] = -place, AS_PART
    return found


def _found(words: Sequence[str], answers: Mapping[str, tuple[int, float]], phrases: Mapping[int, list[str]]) -> list[Answer]:
    """The words that answer, in their order, and the beginnings of phrases that do."""
    found: list[Answer] = [(at, *answers[word]) for at, word in enumerate(words) if word in answers]
    for place, phrase in phrases.items():
        size = len(phrase)
        starts = (at for at, word in enumerate(words) if word == phrase[0] and words[at : at + size] == phrase)
        found += [(at, place, 1.0) for at in starts]
    return sorted(found) if phrases else found


def _counts(said: Iterable[Answer], in_title: Iterable[Answer]) -> dict[int, float]:
    """How often each term is answered for, by its place."""
    counts: dict[int, float] = defaultdict(float)
    for _, place, weight in said:
        counts[place] += weight
    for _, place, weight in in_title:
        counts[place] += IN_TITLE * weight
    return counts


def _most_within(found: Sequence[Answer], window: int) -> int:
    """The most different terms that are answered for within so many positions."""
    counts: Counter[int] = Counter()
    most = start = 0
    for at, place, _ in found:
        counts[place] += 1
        while at - found[start][0] > window:
            counts[found[start][1]] -= 1
            if not counts[found[start][1]]:
                del counts[found[start][1]]
            start += 1
        most = max(most, len(counts))
    return most
