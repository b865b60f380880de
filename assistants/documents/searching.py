"""Finds the passages that answer a query best, in the roots that the asker may read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assistants.models import DocumentRoot, Passage

from .indexing import refresh
from .search_index import index_of
from .second_ranking import Row, rank
from .words import terms_of

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


def search_passages(roots: Sequence[DocumentRoot], query: str, *, limit: int, per_document: int = PER_DOCUMENT) -> Found:
    """Looks for changed files first, then for the words; only in these roots (S10). Raises `SEARCH_UNAVAILABLE`.

    No more than `per_document` passages of a document come before those of the others.
    """
    complete = refresh(roots)
    terms = terms_of(query)
    index = index_of()
    ranked = index.find([root.pk for root in roots], terms, limit=index.candidates)
    hits = [_hit(row, score) for row, score in rank(terms, _rows(roots, ranked.ranks), ranked)]
    return Found(total=ranked.total, hits=tuple(_spread(hits, per_document)[:limit]), complete=complete)


def hits_of(roots: Sequence[DocumentRoot], scores: Mapping[int, float]) -> list[Hit]:
    """The passages of these ids that belong to these roots, with their scores, the best first."""
    rows = sorted(_rows(roots, scores), key=lambda row: (-scores[row.pk], row.path, row.first_line))
    return [_hit(row, scores[row.pk]) for row in rows]


def document_name(root: DocumentRoot, path: str) -> str:
    """What a document is called towards people and models."""
    return f"{root.name}/{path}"


_COLUMNS = (*Row._fields[:6], *(f"document__{name}" for name in ("title", "path", "root_id", "root__name")))


def _rows(roots: Sequence[DocumentRoot], ids: Iterable[int]) -> list[Row]:
    """Held against the roots once more: an index is a copy, and a copy may be wrong (S10). Not in the query itself, which
    would go through all documents of a root then."""
    allowed = {root.pk for root in roots}
    rows = map(Row._make, Passage.objects.filter(pk__in=list(ids)).values_list(*_COLUMNS))
    return [row for row in rows if row.root_id in allowed]


def _spread(hits: Sequence[Hit], per_document: int) -> list[Hit]:
    """So many passages of a document come before those of the others: namesakes are to be seen."""
    first: list[Hit] = []
    later: list[Hit] = []
    counts: Counter[str] = Counter()
    for hit in hits:
        counts[hit.document] += 1
        (first if counts[hit.document] <= per_document else later).append(hit)
    return first + later


def _hit(passage: Row, score: float) -> Hit:
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
