"""What an explorer hands over: one JSON object, read strictly, every fault named by a code and its place (A-09, A-44)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

RELEVANCES = ("strong", "moderate", "weak")
STATUSES = ("asOf", "updatedAt", "createdAt", "unknown")
_FENCE = re.compile(r"\A\s*```(?:json)?[ \t]*\n(?P<body>.*?)\n?```\s*\Z", re.DOTALL)
_PLACEHOLDER = re.compile(
    r"(?:n\W?a|none|null|nothing|unknown|todo|tbd|placeholder|no (?:handoff|evidence|candidates?|results?)|keine?|nichts|"
    r"unbekannt|source|evidence|method|string|\W|\d)*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Fault:
    """Something that a handoff lacks or has wrong, such as INVALID_RETRIEVED_AT at `candidates[2].retrievedAt`."""

    code: str
    path: str


@dataclass(frozen=True)
class Temporal:
    """As of when a source speaks. `status` says what the date is; unknown has none, and nobody invents one (A-44)."""

    status: str
    date: str = ""


@dataclass(frozen=True)
class Candidate:
    """One finding: words from a source, where they stand there, and how well dated they are."""

    source: str
    method: str
    evidence: str
    retrieved_at: str
    temporal: Temporal
    relevance: str
    line: int | None = None
    locator: str = ""
    temporal_basis: str = ""
    uncertainty: str = ""


@dataclass(frozen=True)
class Handoff:
    """A whole report. `variants` are the wordings that were really tried."""

    query: str
    method: str
    variants: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    summary: str = ""


class HandoffInvalid(ValueError):
    """A report that is no handoff, with all its faults."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(", ".join(f"{fault.code} {fault.path}" for fault in faults))
        self.faults = faults


def parse_handoff(text: str) -> Handoff:
    """Reads a report, alone or in one code fence. Raises `HandoffInvalid` with every fault; prose is never read for it."""
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced["body"] if fenced else text)
    except (ValueError, RecursionError) as error:
        raise HandoffInvalid([Fault("INVALID_JSON", "")]) from error
    if not isinstance(data, dict):
        raise HandoffInvalid([Fault("INVALID_HANDOFF", "")])
    reader = _Reader()
    handoff = reader.handoff(data)
    if reader.faults:
        raise HandoffInvalid(reader.faults)
    return handoff


def is_grounded(handoff: Handoff, query: str) -> bool:
    """Whether it answers this very query with at least one finding that says something (A-09)."""
    return handoff.query == query and any(is_substantive(each.evidence) for each in handoff.candidates)


def is_substantive(text: str) -> bool:
    """Whether a text says something: no placeholder, no bare number, no statement that there is nothing."""
    return bool(text.strip()) and not _PLACEHOLDER.fullmatch(text.strip())


class _Reader:
    """Reads one handoff and collects what is wrong with it."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def handoff(self, data: Mapping[str, Any]) -> Handoff:
        assignment = self._object(data, "assignment", "ASSIGNMENT", "")
        query = self._text(assignment, "originalQuery", "ORIGINAL_QUERY", "assignment")
        method = self._text(assignment, "method", "METHOD", "assignment")
        tried = self._variants(assignment)
        name = "evidenceCandidates" if "evidenceCandidates" in data else "candidates"
        entries = data.get(name)
        if not isinstance(entries, list):
            self._fault("MISSING" if entries is None else "INVALID", "EVIDENCE_CANDIDATES", name)
            entries = []
        candidates = [self._candidate(entry, f"{name}[{place}]") for place, entry in enumerate(entries)]
        summary = data.get("summary") or ""
        if not isinstance(summary, str):
            self._fault("INVALID", "SUMMARY", "summary")
        return Handoff(query, method, tried, tuple(candidates), str(summary))

    def _variants(self, assignment: Mapping[str, Any]) -> tuple[str, ...]:
        """The one wording that was tried, or several, of which that one has to be one."""
        one, several = assignment.get("queryVariant"), assignment.get("queryVariants")
        if one is None and several is None:
            self._fault("MISSING", "QUERY_VARIANT", "assignment.queryVariant")
            return ()
        if one is not None and (not isinstance(one, str) or not one.strip()):
            self._fault("INVALID", "QUERY_VARIANT", "assignment.queryVariant")
            return ()
        if several is None:
            return (str(one),)
        if not isinstance(several, list) or not several or not all(isinstance(each, str) and each.strip() for each in several):
            self._fault("INVALID", "QUERY_VARIANTS", "assignment.queryVariants")
            return ()
        if one is not None and one not in several:
            self.faults.append(Fault("QUERY_VARIANT_NOT_INCLUDED", "assignment.queryVariant"))
        return tuple(several)

    def _candidate(self, entry: Any, path: str) -> Candidate:
        if not isinstance(entry, dict):
            self._fault("INVALID", "CANDIDATE", path)
            entry = {}
        retrieved = self._text(entry, "retrievedAt", "RETRIEVED_AT", path)
        if retrieved and not is_moment(retrieved):
            self._fault("INVALID", "RETRIEVED_AT", f"{path}.retrievedAt")
        line, locator = self._place(entry, path)
        relevance = entry.get("relevance", "moderate")
        if relevance not in RELEVANCES:
            self._fault("INVALID", "RELEVANCE", f"{path}.relevance")
        return Candidate(
            source=self._substance(entry, "source", "SOURCE", path),
            method=self._substance(entry, "method", "METHOD", path),
            evidence=self._substance(entry, "evidence", "EVIDENCE", path),
            retrieved_at=retrieved,
            temporal=self._temporal(entry, path, retrieved),
            relevance=str(relevance),
            line=line,
            locator=locator,
            temporal_basis=str(entry.get("temporal_basis") or ""),
            uncertainty=str(entry.get("uncertainty") or ""),
        )

    def _temporal(self, entry: Mapping[str, Any], path: str, retrieved: str) -> Temporal:
        given = self._object(entry, "sourceTemporal", "SOURCE_TEMPORAL", path)
        status = given.get("status")
        if status not in STATUSES:
            self._fault("MISSING" if status is None else "INVALID", "TEMPORAL_STATUS", f"{path}.sourceTemporal.status")
            return Temporal("unknown")
        if status == "unknown":
            return Temporal("unknown")
        value = given.get(status)
        # The moment of looking says nothing about the age of what was found.
        if not isinstance(value, str) or not is_moment(value) or value == retrieved:
            self._fault("MISSING" if value is None else "INVALID", "TEMPORAL_DATE", f"{path}.sourceTemporal.{status}")
            return Temporal("unknown")
        return Temporal(str(status), value)

    def _place(self, entry: Mapping[str, Any], path: str) -> tuple[int | None, str]:
        """Where the words stand: a line, or words such as “page 3”; a line may stand in the words."""
        locator = entry.get("locator")
        if locator is None:
            return None, ""
        if isinstance(locator, bool) or not isinstance(locator, int | str):
            self._fault("INVALID", "LOCATOR", f"{path}.locator")
            return None, ""
        if isinstance(locator, int):
            return locator, f"line {locator}"
        found = re.search(r"\b(?:lines?|zeilen?)\s+(\d{1,9})", locator, re.IGNORECASE)
        return (int(found[1]) if found else None), locator.strip()[:120]

    def _object(self, data: Mapping[str, Any], key: str, name: str, path: str) -> Mapping[str, Any]:
        value = data.get(key)
        if isinstance(value, dict):
            return value
        self._fault("MISSING" if value is None else "INVALID", name, f"{path}.{key}".lstrip("."))
        return {}

    def _text(self, data: Mapping[str, Any], key: str, name: str, path: str) -> str:
        value = data.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if data:
            self._fault("MISSING" if value is None else "INVALID", name, f"{path}.{key}")
        return ""

    def _substance(self, data: Mapping[str, Any], key: str, name: str, path: str) -> str:
        value = self._text(data, key, name, path)
        if value and not is_substantive(value):
            self._fault("INVALID", name, f"{path}.{key}")
        return value

    def _fault(self, kind: str, name: str, path: str) -> None:
        self.faults.append(Fault(f"{kind}_{name}", path))


def is_moment(text: str) -> bool:
    """Whether a text is a date or a moment as ISO 8601 writes it."""
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            read(text)
            return True
        except ValueError:
            continue
    return False
