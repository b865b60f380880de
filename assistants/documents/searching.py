"""Finds the passages that answer a query best, in the roots that the asker may read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assistants.models import DocumentRoot, Passage

from .indexing import refresh
from .search_index import index_of
from .words import Term, fold, plain_words, quality, terms_of

CANDIDATES = 80
PER_DOCUMENT = 3


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


def search_passages(roots: Sequence[DocumentRoot], query: str, *, limit: int) -> Found:
    """Looks for changed files first, then for the words; only in these roots (S10). Raises `SEARCH_UNAVAILABLE`."""
    complete = refresh(roots)
    terms = terms_of(query)
    ranked = index_of().find([root.pk for root in roots], terms, limit=CANDIDATES)
    hits = _rank(terms, _rows(roots, ranked.ranks), ranked.ranks)
    return Found(total=ranked.total, hits=tuple(_spread(hits)[:limit]), complete=complete)


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
    """By the share of the words that a passage answers for, the rare ones counting more; then by the index's own rank.

    The index adds up words, so one word said often would win over all words said once.
    """
    likeness = _Likeness(terms)
    tables = {passage.pk: _strengths(terms, passage, likeness) for passage in passages}
    bearers = [sum(1 for table in tables.values() if table[place][0] > 0) for place in range(len(terms))]
    weights = [1.5 - 0.5 * each / max(len(passages), 1) for each in bearers]
    best = max((ranks[passage.pk] for passage in passages), default=0) or 1
    scored = []
    for passage in passages:
        inside, named = (
            sum(weight * strength[part] for weight, strength in zip(weights, tables[passage.pk], strict=True)) / sum(weights)
            for part in (0, 1)
        )
        score = 0.7 * inside + 0.1 * named + 0.2 * ranks[passage.pk] / best
        scored.append((round(score, 3), passage))
    scored.sort(key=lambda each: (-each[0], each[1].path, each[1].first_line))
    return [_hit(passage, score) for score, passage in scored]


class _Likeness:
    """How well words answer for the terms. Most words answer for none, and each is looked at only once a search."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = terms
        forms = {form for term in terms for form in (term.text, term.stem, *term.spellings, *term.ends) if form}
        self._any = re.compile("|".join(map(re.escape, sorted(forms))))
        self._known: dict[str, tuple[float, ...]] = {}

    def of(self, words: Iterable[str]) -> list[float]:
        """For each term the quality of the best word."""
        best = [0.0] * len(self._terms)
        for word in words:
            found = self._known.get(word)
            if found is None:
                found = tuple(quality(term, (word,)) for term in self._terms) if self._any.search(word) else ()
                self._known[word] = found
            for place, each in enumerate(found):
                if each > best[place]:
                    best[place] = each
        return best


def _strengths(terms: Sequence[Term], passage: _Row, likeness: _Likeness) -> list[tuple[float, float]]:
    """For each term how well the passage with its names answers for it, and how well its names alone do."""
    named = likeness.of(set(plain_words(fold(f"{passage.title} {passage.path} {passage.heading} {passage.anchor}"))))
    body = plain_words(fold(passage.text))
    said = likeness.of(set(body))
    found = []
    for term, in_names, in_body in zip(terms, named, said, strict=True):
        if term.is_phrase:
            found.append((float(f" {' '.join(plain_words(term.text))} " in f" {' '.join(body)} "), 0.0))
        else:
            found.append((max(in_body, 0.8 * in_names), in_names))
    return found


def _spread(hits: Sequence[Hit]) -> list[Hit]:
    """At most three passages of a document come before those of the others: namesakes are to be seen."""
    first: list[Hit] = []
    later: list[Hit] = []
    counts: dict[str, int] = {}
    for hit in hits:
        counts[hit.document] = counts.get(hit.document, 0) + 1
        (first if counts[hit.document] <= PER_DOCUMENT else later).append(hit)
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
