"""Finds the passages that answer a query best, in the roots that the asker may read."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assistants.models import DocumentRoot, Passage

from .indexing import refresh
from .search_index import index_of
from .words import COMPOUND, ENGLISH, GERMAN, Term, fold, plain_words, quality, terms_of

CANDIDATES = 60
PER_DOCUMENT = 3
# What a passage gains if all words stand together in it, in so many words, and what it gains by its document's best ones.
TOGETHER, WINDOW = 1.0, 12
OF_DOCUMENT, BEST_OF_DOCUMENT = 0.3, 3


@dataclass(frozen=True)
class Hit:
    """A passage with its place. `document` is `<root name>/<path>`; `score` is between 0 and 1."""

    document: str
    first_line: int
    last_line: int
    title: str
    passage: str
    score: float
    anchor: str = ""

    @property
    def place(self) -> str:
        """Such as `lines 3-5`, with the page, sheet or slide before it if the document has any."""
        span = f"{self.first_line}-{self.last_line}"
        lines = f"line {self.first_line}" if self.first_line == self.last_line else f"lines {span}"
        return f"{self.anchor}, {lines}" if self.anchor else lines


@dataclass(frozen=True)
class Found:
    """The best hits and how many passages hold any of the words (counted up to 1,000).

    `complete` is false while a folder is still being read for the first time.
    """

    total: int
    hits: tuple[Hit, ...]
    complete: bool


def search_passages(roots: Sequence[DocumentRoot], query: str, *, limit: int, per_document: int | None = PER_DOCUMENT) -> Found:
    """Looks for changed files first, then for the words; only in these roots (S10). Raises `SEARCH_UNAVAILABLE`.

    No more than `per_document` passages of a document come before those of the others, unless that is None.
    """
    complete = refresh(roots)
    terms = terms_of(query)
    ranked = index_of().find([root.pk for root in roots], terms, limit=CANDIDATES)
    hits = _rank(terms, _rows(roots, ranked.ranks), ranked.ranks)
    return Found(total=ranked.total, hits=tuple(_spread(hits, per_document)[:limit]), complete=complete)


def hits_of(roots: Sequence[DocumentRoot], scores: Mapping[int, float]) -> list[Hit]:
    """The passages of these ids that belong to these roots, with their scores, the best first."""
    rows = sorted(_rows(roots, scores), key=lambda row: (-scores[row.pk], row.path, row.first_line))
    return [_hit(row, scores[row.pk]) for row in rows]


def document_name(root: DocumentRoot, path: str) -> str:
    """What a document is called towards people and models."""
    return f"{root.name}/{path}"


class _Row(NamedTuple):
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


_COLUMNS = (*_Row._fields[:6], *(f"document__{name}" for name in ("title", "path", "root_id", "root__name")))


def _rows(roots: Sequence[DocumentRoot], ids: Iterable[int]) -> list[_Row]:
    """Held against the roots once more: an index is a copy, and a copy may be wrong (S10). Not in the query itself, which
    would go through all documents of a root then."""
    allowed = {root.pk for root in roots}
    rows = map(_Row._make, Passage.objects.filter(pk__in=list(ids)).values_list(*_COLUMNS))
    return [row for row in rows if row.root_id in allowed]


def _rank(terms: Sequence[Term], passages: Sequence[_Row], ranks: dict[int, float]) -> list[Hit]:
    """By the index's own rank, raised where the words stand together, and for passages of a document that has other good ones.

    The index adds up words, wherever they stand.
    """
    answers = _Answers(terms)
    together = {passage.pk: answers.together(plain_words(fold(passage.text))) / max(len(terms), 1) for passage in passages}
    scores = {passage.pk: ranks[passage.pk] * (1 + TOGETHER * together[passage.pk]) for passage in passages}
    of_document = defaultdict(list)
    for passage in passages:
        of_document[passage.root_id, passage.path].append(scores[passage.pk])
    means = {key: sum(sorted(each)[-BEST_OF_DOCUMENT:]) / BEST_OF_DOCUMENT for key, each in of_document.items()}
    totals = {each.pk: scores[each.pk] + OF_DOCUMENT * means[each.root_id, each.path] for each in passages}
    ranked = sorted(passages, key=lambda each: (-totals[each.pk], each.path, each.first_line))
    # The best one's score says how many of the words it has together, that of the others how near they come to it.
    best = (0.5 + 0.5 * together[ranked[0].pk]) / (totals[ranked[0].pk] or 1.0) if ranked else 0.0
    return [_hit(passage, round(best * totals[passage.pk], 3)) for passage in ranked]


class _Answers:
    """Which words answer for which terms. Each is looked at only once a search."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = terms
        self._phrases = {place: plain_words(term.text) for place, term in enumerate(terms) if term.is_phrase}
        self._stems = {form: place for place, term in reversed(list(enumerate(terms))) for form in term.stems}
        forms = {form for term in terms for form in (term.stem, *term.ends)}
        self._any = re.compile("|".join(map(re.escape, sorted(forms))))
        self._known: dict[str, int | None] = {}

    def together(self, words: Sequence[str]) -> int:
        """The most terms that are answered for within any `WINDOW` words."""
        known = self._known
        unknown = set(words).difference(known)
        for word, english, german in zip(
            unknown, map(ENGLISH.__getitem__, unknown), map(GERMAN.__getitem__, unknown), strict=True
        ):
            known[word] = self._place_of(word, english, german)
        found = [(at, place) for at, word in enumerate(words) if (place := known[word]) is not None]
        for place, phrase in self._phrases.items():
            size = len(phrase)
            starts = (at for at, word in enumerate(words) if word == phrase[0] and words[at : at + size] == phrase)
            found += [(at, place) for at in starts]
        return _most_within(sorted(found) if self._phrases else found, WINDOW)

    def _place_of(self, word: str, english: str, german: str) -> int | None:
        place = self._stems.get(english, self._stems.get(german))
        if place is not None or len(word) < COMPOUND or not self._any.search(word):
            return place
        likeness, place = max((quality(term, (word,)), -place) for place, term in enumerate(self._terms))
        return -place if likeness >= 0.5 else None


def _most_within(found: Sequence[tuple[int, int]], window: int) -> int:
    """The most different places among (position, place) pairs, in order of position, that lie within so many positions."""
    counts: Counter[int] = Counter()
    most = start = 0
    for at, place in found:
        counts[place] += 1
        while at - found[start][0] > window:
            counts[found[start][1]] -= 1
            if not counts[found[start][1]]:
                del counts[found[start][1]]
            start += 1
        most = max(most, len(counts))
    return most


def _spread(hits: Sequence[Hit], per_document: int | None) -> list[Hit]:
    """So many passages of a document come before those of the others: namesakes are to be seen."""
    first: list[Hit] = []
    later: list[Hit] = []
    counts: Counter[str] = Counter()
    for hit in hits:
        counts[hit.document] += 1
        (first if per_document is None or counts[hit.document] <= per_document else later).append(hit)
    return first + later


def _hit(passage: _Row, score: float) -> Hit:
    return Hit(
        document=f"{passage.root}/{passage.path}",
        first_line=passage.first_line,
        last_line=passage.last_line,
        title=_title(passage.title, passage.heading),
        passage=passage.text,
        score=min(score, 1.0),
        anchor=passage.anchor,
    )


def _title(title: str, heading: str) -> str:
    return title if not heading or heading == title else f"{title} › {heading}"
