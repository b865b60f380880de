"""What a research ends with: numbered results, each joined to its source and to words that really stand there (A-11)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistants.errors import CodedError

KNOWN_WARNINGS = ("empty-query",)


@dataclass(frozen=True)
class Reference:
    """A piece of evidence as a result names it: by its stable id, or by its words and their source."""

    method: str
    source: str
    text: str
    stable_id: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Result:
    """One result with its mapping entry. `confidence` lies between 0 and 1."""

    number: int
    title: str
    summary: str
    confidence: float
    source: str
    method: str
    content: str
    references: tuple[Reference, ...]


@dataclass(frozen=True)
class Curated:
    """A whole, valid emission. `diagnostics` are {code, severity, message}."""

    answer: str
    results: tuple[Result, ...]
    warnings: tuple[str, ...]
    diagnostics: tuple[dict[str, str], ...]


def read_emission(
    answer: str, results: Sequence[Mapping[str, Any]], mapping: Sequence[Mapping[str, Any]], warnings: Sequence[str]
) -> Curated:
    """Joins results and mapping by their numbers. Raises `RESULTS_MISMATCH`, `EVIDENCE_EMPTY`."""
    numbers, mapped = [each["number"] for each in results], [each["number"] for each in mapping]
    if sorted(numbers) != sorted(mapped) or len(set(numbers)) != len(numbers):
        raise CodedError(
            code="RESULTS_MISMATCH",
            field="mapping",
            message=f"Results are numbered {sorted(numbers)}, the mapping {sorted(mapped)}. Each number stands once in both.",
            fix="Send one mapping entry for every result, with the same number.",
        )
    entries = {each["number"]: each for each in mapping}
    joined = tuple(_join(each, entries[each["number"]]) for each in sorted(results, key=lambda each: int(each["number"])))
    unknown = [each for each in warnings if each not in KNOWN_WARNINGS]
    return Curated(
        answer=answer,
        results=joined,
        warnings=tuple(each for each in warnings if each in KNOWN_WARNINGS),
        diagnostics=tuple({"code": "unknown-warning", "severity": "info", "message": each[:200]} for each in unknown),
    )


def clamp(confidence: float) -> float:
    """Between 0 and 1; what is no number at all counts as no confidence."""
    return min(max(confidence, 0.0), 1.0) if math.isfinite(confidence) else 0.0


def _join(result: Mapping[str, Any], entry: Mapping[str, Any]) -> Result:
    number = int(result["number"])
    references = [_reference(each, entry, number, place) for place, each in enumerate(entry.get("evidenceRefs") or ())]
    if not references:
        # Without references of its own an entry is its own evidence, with the words that the result quotes.
        quoted = [each.get("excerpt") or "" for each in result.get("evidence") or ()] or [entry["content"]]
        lines = [each.get("lineNumber") for each in result.get("evidence") or ()] or [None]
        references = [
            Reference(entry["method"], entry["source"], text, line=line) for text, line in zip(quoted, lines, strict=True)
        ]
    return Result(
        number=number,
        title=result["title"],
        summary=result["summary"],
        confidence=clamp(result["confidence"]),
        source=entry["source"],
        method=entry["method"],
        content=entry["content"],
        references=tuple(references),
    )


def _reference(given: Mapping[str, Any], entry: Mapping[str, Any], number: int, place: int) -> Reference:
    text = given.get("excerpt") or given.get("content") or ""
    if not text.strip():
        raise CodedError(
            code="EVIDENCE_EMPTY",
            field=f"mapping[{number}].evidenceRefs[{place}]",
            message=f"Evidence {place + 1} of result {number} quotes nothing.",
            fix="Give each piece of evidence an excerpt or its content.",
        )
    return Reference(
        method=given.get("method") or entry["method"],
        source=given.get("source") or entry["source"],
        text=text,
        stable_id=given.get("stableEvidenceId") or "",
        line=given.get("lineNumber"),
    )
