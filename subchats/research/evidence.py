"""Looks every quote of a handoff up in its document; what does not stand there is no evidence (decision 13, A-08)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assistants import clock
from assistants.documents.reading import find_document
from assistants.documents.roots import roots_for
from assistants.documents.searching import document_name
from assistants.errors import CodedError
from assistants.models import Document, DocumentRoot, Thread
from subchats.models import Evidence, ExplorerTask, ResearchRun

from .datasources import Record, look_up
from .handoff import Candidate, Handoff
from .quotes import Quote, evidence_id, find_quote


@dataclass(frozen=True)
class Verified:
    """The findings of one handoff that were found where they are said to stand, and why the others were not."""

    evidence: tuple[Evidence, ...]
    refused: tuple[dict[str, str], ...]

    def as_report(self, handoff: Handoff) -> dict[str, Any]:
        """What the orchestrator reads of it: evidence by its ids, quotes exactly as the documents have them."""
        return {
            "method": handoff.method,
            "queryVariants": list(handoff.variants),
            "candidates": [describe(each) for each in self.evidence],
            "refused": list(self.refused),
            **({"summary": handoff.summary} if handoff.summary else {}),
        }


def verify(task: ExplorerTask, handoff: Handoff) -> Verified:
    """Keeps what can be found, once for a run however often it is handed over; says of the rest what is wrong with it."""
    kept: list[Evidence] = []
    refused: list[dict[str, str]] = []
    thread = task.run.turn.thread
    # The right may have gone while the explorer was out (D8).
    roots = [root for root in roots_for(thread) if root.pk == task.root_id]
    for candidate in handoff.candidates:
        try:
            found = trace(thread, roots, candidate.source, candidate.evidence, line=candidate.line)
        except CodedError as error:
            refused.append({"source": candidate.source[:200], "excerpt": candidate.evidence[:200], "reason": error.message})
            continue
        kept.append(_keep_finding(task, candidate, found))
    return Verified(tuple(dict.fromkeys(kept)), tuple(refused))


@dataclass(frozen=True)
class Traced:
    """Where words really stand: in a document, or in a record of another source that was granted."""

    name: str
    quote: Quote
    document: Document | None = None
    record: Record | None = None

    @property
    def place(self) -> str:
        """In words: a record's own place, else the page, sheet or slide if there are any, and the line."""
        if self.record:
            return self.record.place
        return ", ".join(filter(None, (self.anchor, f"line {self.quote.line}")))

    @property
    def anchor(self) -> str:
        """The page, sheet or slide that the words stand on, as it was kept when the document was read; else nothing."""
        if self.document is None:
            return ""
        above = self.document.passages.filter(first_line__lte=self.quote.line).order_by("-first_line")
        return above.values_list("anchor", flat=True).first() or ""


def trace(thread: Thread, roots: Sequence[DocumentRoot], source: str, words: str, *, line: int | None = None) -> Traced:
    """Looks words up where they are said to stand. A record of another source has to be open to the research (A-36).

    Raises as `locate` does.
    """
    record = look_up(thread, source)
    if record is None:
        document, quote = locate(roots, source, words, line=line)
        return Traced(document_name(document.root, document.path), quote, document=document)
    if quote_there := find_quote(record.text, words):
        return Traced(source, quote_there, record=record)
    raise CodedError(
        code="QUOTE_NOT_FOUND",
        field="evidence",
        message=f"These words do not stand in {source}.",
        fix="Quote one stretch of it word for word, without leaving anything out.",
    )


def locate(roots: Sequence[DocumentRoot], source: str, words: str, *, line: int | None = None) -> tuple[Document, Quote]:
    """The document of that name in these roots, and where the words stand in it.

    Raises `DOCUMENT_UNKNOWN`, `QUOTE_NOT_FOUND`, `QUOTE_NOT_AT_PLACE`.
    """
    document = find_document(roots, source)
    if quote := find_quote(document.text, words, line=line):
        return document, quote
    name = document_name(document.root, document.path)
    if line is not None and (elsewhere := find_quote(document.text, words)):
        raise CodedError(
            code="QUOTE_NOT_AT_PLACE",
            field="locator",
            message=f"These words do not stand in {name} near line {line}, but in line {elsewhere.line}.",
            fix="Name the line where they stand.",
        )
    raise CodedError(
        code="QUOTE_NOT_FOUND",
        field="evidence",
        message=f"These words do not stand in {name}.",
        fix="Quote one stretch of the document word for word, without leaving anything out.",
    )


def describe(evidence: Evidence) -> dict[str, Any]:
    """A piece of evidence as models read it."""
    temporal = {"status": evidence.temporal_status}
    if evidence.temporal_date:
        temporal[evidence.temporal_status] = evidence.temporal_date
    return {
        "evidenceId": evidence.stable_id,
        "source": evidence.source,
        "lineNumber": evidence.line,
        "locator": evidence.locator,
        "excerpt": evidence.excerpt,
        "relevance": evidence.relevance,
        "sourceTemporal": temporal,
        "temporal_basis": evidence.temporal_basis,
        "uncertainty": evidence.uncertainty,
        "retrievedAt": evidence.retrieved_at,
    }


def keep(run: ResearchRun, traced: Traced, *, method: str, **said: Any) -> Evidence:
    """The evidence of these words, once for a run. `said` is what else is known of it; unknown stays unknown (A-44)."""
    name, quote = traced.name, traced.quote
    kept, _ = Evidence.objects.get_or_create(
        run=run,
        stable_id=evidence_id(method, name, quote.line, quote.words),
        defaults={
            "document": traced.document,
            "source": name,
            "method": method[:120],
            "excerpt": quote.words,
            "line": quote.line,
            "start": quote.start,
            "end": quote.end,
            "digest": traced.document.digest if traced.document else "",
            "locator": traced.place,
            "relevance": "moderate",
            "temporal_status": "unknown",
            "retrieved_at": clock.now().isoformat(timespec="seconds"),
            **said,
        },
    )
    return kept


def _keep_finding(task: ExplorerTask, candidate: Candidate, found: Traced) -> Evidence:
    place = {}
    if candidate.locator and found.document:
        # The page is known here, even if it was not named.
        above = "" if found.anchor in candidate.locator else f"{found.anchor}, "
        place = {"locator": f"{above}{candidate.locator}"[:120]}
    return keep(
        task.run,
        found,
        method=candidate.method,
        task=task,
        relevance=candidate.relevance,
        temporal_status=candidate.temporal.status,
        temporal_date=candidate.temporal.date[:40],
        temporal_basis=candidate.temporal_basis,
        uncertainty=candidate.uncertainty,
        retrieved_at=candidate.retrieved_at[:40],
        **place,
    )
