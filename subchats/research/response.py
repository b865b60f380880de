"""What a research answers to whoever asked from outside: as data for programs, and as lines for a terminal (rules 4.8)."""

import unicodedata
from typing import Any

from subchats.models import CuratedResult, Evidence, ResearchRun

from .evidence import describe

EMPTY: dict[str, Any] = {
    "sessionId": None,
    "query": "",
    "results": [],
    "answer": "",
    "searched": 0,
    "warnings": ["empty-query"],
    "diagnostics": [],
}
"""The response to a blank query: nothing ran, and nothing was logged (A-05)."""


def as_response(run: ResearchRun) -> dict[str, Any]:
    """A finished research with its numbered results, each with its evidence."""
    results = list(run.results.prefetch_related("evidence"))
    return {
        "sessionId": run.session,
        "query": run.query,
        "results": [_result(each) for each in results],
        "answer": run.answer,
        "searched": len(results),
        "warnings": run.warnings,
        "diagnostics": run.diagnostics,
    }


def as_lines(run: ResearchRun) -> list[str]:
    """The answer, then each result with the words it rests on and where they stand."""
    lines = [printable(run.answer)]
    for result in run.results.prefetch_related("evidence"):
        lines += ["", f"[{result.number}] {printable(result.title)} (sure to {result.confidence:.0%})"]
        for evidence in result.evidence.all():
            lines += [f"    {_place(evidence)}", *(f"    │ {line}" for line in printable(evidence.excerpt).splitlines())]
        lines.append(f"    useful? search --feedback {result.feedback_id} useful")
    for each in run.diagnostics:
        lines.append(f"note: {printable(each['code'])}: {printable(each['message'])}")
    return lines


def printable(text: str) -> str:
    """Without anything that a terminal would obey rather than show: a document may hold such characters."""
    return "".join(each for each in text if each in "\n\t" or unicodedata.category(each) not in ("Cc", "Cf", "Cs", "Co"))


def _result(result: CuratedResult) -> dict[str, Any]:
    return {
        "number": result.number,
        "title": result.title,
        "summary": result.summary,
        "confidence": result.confidence,
        "source": result.source,
        "method": result.method,
        "evidence": [describe(each) for each in result.evidence.all()],
        "feedbackId": result.feedback_id,
    }


def _place(evidence: Evidence) -> str:
    dated = f"{evidence.temporal_status} {evidence.temporal_date}" if evidence.temporal_date else "date unknown"
    return printable(f"{evidence.source}, {evidence.locator or f'line {evidence.line}'} ({evidence.relevance}, {dated})")
