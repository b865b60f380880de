"""The ways to find something, behind one interface: each gives hits, and one that fails gives a diagnostic (A-37)."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assistants.errors import CodedError
from assistants.models import DocumentRoot, Thread

from . import searching
from .merge import FURTHER_HITS, Hit, Merged, merge
from .roots import roots_for
from .vectors import find_by_meaning

logger = logging.getLogger(__name__)
MOST_QUERY = 1000
# What a refusal of ours is called among diagnostics; whatever else goes wrong is `retrieval-method-failed`.
CODES = {
    "SEARCH_UNAVAILABLE": ("bm25-unavailable", "warning"),
    "VECTORS_OFF": ("minsync-unavailable", "info"),
    "DATASOURCE_OFF": ("datasource-off", "info"),
    "DISCOVERY_OFF": ("jikji-unavailable", "info"),
    "DISCOVERY_FAILED": ("jikji-find-failed", "warning"),
}


@dataclass(frozen=True)
class Diagnostic:
    """What went wrong or is missing, without any query or path. `severity` is info, warning or error."""

    code: str
    severity: str
    message: str
    source: str = ""


@dataclass(frozen=True)
class Retrieval:
    """What all methods found together, the best first, and what they could not do."""

    results: tuple[Merged, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=())


# A method looks with the rights of the conversation's owner, and gives at most that many hits, the best first.
Method = Callable[[Thread, str, int], Sequence[Hit]]
_methods: dict[str, Method] = {}


def register_method(name: str, method: Method) -> None:
    """Adds a way to find something, or replaces the one of that name. An upper app registers its own."""
    _methods[name] = method


def method_names() -> list[str]:
    """Every method there is, by name."""
    return sorted(_methods)


def retrieve(
    thread: Thread,
    query: str,
    *,
    methods: Iterable[str] | None = None,
    limit: int = 10,
    preferences: Mapping[str, float] | None = None,
) -> Retrieval:
    """Asks all methods, or the named ones, and merges their hits as A-37 says.

    `preferences` is what memory thinks of sources, -1 to 1: it nudges the order. Never raises for what a method does.
    """
    query = query.strip()[:MOST_QUERY]
    if not query:
        return Retrieval(diagnostics=(Diagnostic("empty-query", "warning", "There was nothing to look for."),))
    hits: dict[str, Sequence[Hit]] = {}
    diagnostics = index_diagnostics(roots_for(thread))
    for name in sorted(_methods) if methods is None else methods:
        try:
            # More than are shown: what two methods find counts more than what one does.
            hits[name] = _method(name)(thread, query, 2 * limit)
        except Exception as error:
            diagnostics.append(_diagnose(name, error))
    return Retrieval(merge(hits, limit=limit, preferences=preferences), tuple(diagnostics))


def index_diagnostics(roots: Sequence[DocumentRoot]) -> list[Diagnostic]:
    """What the indexes of these roots lack."""
    found = []
    for root in roots:
        report = root.report
        if report.get("problem"):
            found.append(
                Diagnostic("refresh-failed", "warning", "The folder can't be read; its last state is searched.", root.name)
            )
        if root.indexed and not report.get("complete", True):
            found.append(Diagnostic("stale-index", "warning", "The folder is still being read.", root.name))
        if failed := report.get("failed_total", 0):
            found.append(Diagnostic("parser-failed", "warning", f"{failed} files could not be read.", root.name))
        if partly := len(report.get("partly", ())):
            found.append(Diagnostic("parser-skipped", "info", f"{partly} files were not read to their end.", root.name))
        if skipped := report.get("skipped_total", 0):
            found.append(Diagnostic("unsupported-file", "info", f"{skipped} files or folders were left out.", root.name))
    return found


def bm25_hits(roots: Sequence[DocumentRoot], query: str, limit: int) -> list[Hit]:
    """Passages that hold the words, of one source no more than a result shows before those of others. Raises
    `SEARCH_UNAVAILABLE`."""
    found = searching.search_passages(roots, query, limit=limit, per_document=1 + FURTHER_HITS)
    return [_of_method("bm25", hit) for hit in found.hits]


def vector_hits(roots: Sequence[DocumentRoot], query: str, limit: int) -> list[Hit]:
    """Passages that mean something alike. Raises `VECTORS_OFF`."""
    return [
        Hit(hit.document, hit.place, hit.passage, hit.score, "vector", hit.title)
        for hit in find_by_meaning(roots, query, limit)
    ]


def _of_method(name: str, hit: searching.Hit) -> Hit:
    return Hit(hit.document, hit.place, hit.passage, hit.score, name, hit.title)


def _method(name: str) -> Method:
    if name not in _methods:
        raise CodedError(code="METHOD_UNKNOWN", message="There is no such method.")
    return _methods[name]


def _diagnose(name: str, error: Exception) -> Diagnostic:
    if isinstance(error, CodedError) and error.code in CODES:
        code, severity = CODES[error.code]
        return Diagnostic(code, severity, error.message, name)
    # Only its kind: a message may hold the query or a path.
    logger.warning("The method %s failed: %s", name, type(error).__name__)
    return Diagnostic("retrieval-method-failed", "warning", f"The method {name} failed; the others went on.", name)


register_method("bm25", lambda thread, query, limit: bm25_hits(roots_for(thread), query, limit))
register_method("vector", lambda thread, query, limit: vector_hits(roots_for(thread), query, limit))
