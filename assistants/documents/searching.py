"""Finds the passages that answer a query best, in the roots that the asker may read."""

from collections.abc import Sequence
from dataclasses import dataclass

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

    @property
    def place(self) -> str:
        if self.first_line == self.last_line:
            return f"line {self.first_line}"
        return f"lines {self.first_line}-{self.last_line}"


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
    # Asked for by root once more: the index is a copy, and a copy may be wrong.
    passages = Passage.objects.filter(pk__in=ranked.ranks, document__root__in=roots).select_related("document__root")
    hits = _rank(terms, list(passages.defer("document__text")), ranked.ranks)
    return Found(total=ranked.total, hits=tuple(_spread(hits)[:limit]), complete=complete)


def document_name(root: DocumentRoot, path: str) -> str:
    """What a document is called towards people and models."""
    return f"{root.name}/{path}"


def _rank(terms: Sequence[Term], passages: Sequence[Passage], ranks: dict[int, float]) -> list[Hit]:
    """By the share of the words that a passage answers for, the rare ones counting more; then by the index's own rank.

    The index adds up words, so one word said often would win over all words said once.
    """
    tables = {passage.pk: _strengths(terms, passage) for passage in passages}
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
    scored.sort(key=lambda each: (-each[0], each[1].document.path, each[1].first_line))
    return [_hit(passage, score) for score, passage in scored]


def _strengths(terms: Sequence[Term], passage: Passage) -> list[tuple[float, float]]:
    """For each term how well the passage with its names answers for it, and how well its names alone do."""
    document = passage.document
    names = set(plain_words(fold(f"{document.title} {document.path} {passage.heading}")))
    body = plain_words(fold(passage.text))
    words = set(body)
    found = []
    for term in terms:
        if term.is_phrase:
            found.append((float(f" {' '.join(plain_words(term.text))} " in f" {' '.join(body)} "), 0.0))
            continue
        in_names = quality(term, names)
        found.append((max(quality(term, words), 0.8 * in_names), in_names))
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


def _hit(passage: Passage, score: float) -> Hit:
    document = passage.document
    return Hit(
        document=document_name(document.root, document.path),
        first_line=passage.first_line,
        last_line=passage.last_line,
        title=_title(document.title, passage.heading),
        passage=passage.text,
        score=min(score, 1.0),
    )


def _title(title: str, heading: str) -> str:
    return title if not heading or heading == title else f"{title} › {heading}"
