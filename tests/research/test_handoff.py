"""What explorers hand over is read strictly: every fault has a code and a place (A-09, A-44)."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subchats.research.handoff import HandoffInvalid, Temporal, is_grounded, is_substantive, parse_handoff

QUERY = "Why did returns jump?"
CANDIDATE = {
    "source": "handbook/returns/report.md",
    "method": "bm25",
    "evidence": "SKU B12345 rose from 31 to 118 units.",
    "retrievedAt": "2026-11-30T09:00:00+00:00",
    "sourceTemporal": {"status": "asOf", "asOf": "2026-11-22"},
    "locator": "lines 12-14",
    "relevance": "strong",
    "temporal_basis": "the heading names week 47",
    "uncertainty": "",
}
GOOD = {
    "assignment": {"originalQuery": QUERY, "method": "bm25", "queryVariants": ["returns", "week 47"]},
    "candidates": [CANDIDATE],
}


def changed(path: str, value: Any = ..., *, of: dict[str, Any] = GOOD) -> dict[str, Any]:
    """A copy with one thing changed, or taken out."""
    copied = copy.deepcopy(of)
    *way, last = path.split(".")
    node: Any = copied
    for step in way:
        node = node[int(step)] if step.isdigit() else node[step]
    if value is ...:
        del node[last]
    else:
        node[int(last) if last.isdigit() else last] = value
    return copied


def faults(data: Any) -> list[tuple[str, str]]:
    with pytest.raises(HandoffInvalid) as raised:
        parse_handoff(json.dumps(data))
    return [(fault.code, fault.path) for fault in raised.value.faults]


def test_a09_a_whole_handoff_is_read() -> None:
    handoff = parse_handoff(json.dumps(GOOD))

    (candidate,) = handoff.candidates
    assert (handoff.query, handoff.method, handoff.variants) == (QUERY, "bm25", ("returns", "week 47"))
    assert (candidate.line, candidate.locator, candidate.relevance) == (12, "lines 12-14", "strong")
    assert candidate.temporal == Temporal("asOf", "2026-11-22")
    assert is_grounded(handoff, QUERY)


def test_a09_it_may_stand_in_a_fence_and_be_named_otherwise() -> None:
    renamed = {"assignment": GOOD["assignment"], "evidenceCandidates": [CANDIDATE]}

    assert parse_handoff(f"```json\n{json.dumps(renamed, indent=1)}\n```\n").candidates


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I found it.",
        "[]",
        "null",
        '"x"',
        "{",
        f"Here it is: {json.dumps(GOOD)}",
        f"```json\n{json.dumps(GOOD)}\n```\nDone.",
    ],
)
def test_a09_prose_is_never_read_for_a_handoff(text: str) -> None:
    with pytest.raises(HandoffInvalid):
        parse_handoff(text)


CHANGES = [
    ("assignment", ..., "MISSING_ASSIGNMENT", "assignment"),
    ("assignment", "x", "INVALID_ASSIGNMENT", "assignment"),
    ("assignment.originalQuery", ..., "MISSING_ORIGINAL_QUERY", "assignment.originalQuery"),
    ("assignment.originalQuery", " ", "INVALID_ORIGINAL_QUERY", "assignment.originalQuery"),
    ("assignment.method", ..., "MISSING_METHOD", "assignment.method"),
    ("assignment.method", 1, "INVALID_METHOD", "assignment.method"),
    ("assignment.queryVariants", ..., "MISSING_QUERY_VARIANT", "assignment.queryVariant"),
    ("assignment.queryVariants", [], "INVALID_QUERY_VARIANTS", "assignment.queryVariants"),
    ("assignment.queryVariants", ["a", ""], "INVALID_QUERY_VARIANTS", "assignment.queryVariants"),
    ("assignment.queryVariant", "other", "QUERY_VARIANT_NOT_INCLUDED", "assignment.queryVariant"),
    ("assignment.queryVariant", 7, "INVALID_QUERY_VARIANT", "assignment.queryVariant"),
    ("candidates", ..., "MISSING_EVIDENCE_CANDIDATES", "candidates"),
    ("candidates", {}, "INVALID_EVIDENCE_CANDIDATES", "candidates"),
    ("candidates.0", "x", "INVALID_CANDIDATE", "candidates[0]"),
    ("candidates.0.source", ..., "MISSING_SOURCE", "candidates[0].source"),
    ("candidates.0.source", "n/a", "INVALID_SOURCE", "candidates[0].source"),
    ("candidates.0.method", "", "INVALID_METHOD", "candidates[0].method"),
    ("candidates.0.evidence", ..., "MISSING_EVIDENCE", "candidates[0].evidence"),
    ("candidates.0.evidence", "118", "INVALID_EVIDENCE", "candidates[0].evidence"),
    ("candidates.0.evidence", "No evidence.", "INVALID_EVIDENCE", "candidates[0].evidence"),
    ("candidates.0.evidence", ["a"], "INVALID_EVIDENCE", "candidates[0].evidence"),
    ("candidates.0.retrievedAt", ..., "MISSING_RETRIEVED_AT", "candidates[0].retrievedAt"),
    ("candidates.0.retrievedAt", "today", "INVALID_RETRIEVED_AT", "candidates[0].retrievedAt"),
    ("candidates.0.retrievedAt", "2026-13-01", "INVALID_RETRIEVED_AT", "candidates[0].retrievedAt"),
    ("candidates.0.sourceTemporal", ..., "MISSING_SOURCE_TEMPORAL", "candidates[0].sourceTemporal"),
    ("candidates.0.sourceTemporal", "unknown", "INVALID_SOURCE_TEMPORAL", "candidates[0].sourceTemporal"),
    ("candidates.0.sourceTemporal.status", "guess", "INVALID_TEMPORAL_STATUS", "candidates[0].sourceTemporal.status"),
    ("candidates.0.sourceTemporal.asOf", ..., "MISSING_TEMPORAL_DATE", "candidates[0].sourceTemporal.asOf"),
    ("candidates.0.sourceTemporal.asOf", "last week", "INVALID_TEMPORAL_DATE", "candidates[0].sourceTemporal.asOf"),
    ("candidates.0.relevance", "huge", "INVALID_RELEVANCE", "candidates[0].relevance"),
    ("candidates.0.locator", [12], "INVALID_LOCATOR", "candidates[0].locator"),
    ("candidates.0.locator", True, "INVALID_LOCATOR", "candidates[0].locator"),
    ("summary", 7, "INVALID_SUMMARY", "summary"),
]


@pytest.mark.parametrize(("path", "value", "code", "place"), CHANGES)
def test_a09_each_fault_has_its_code_and_its_place(path: str, value: Any, code: str, place: str) -> None:
    assert (code, place) in faults(changed(path, value))


def test_a44_an_unknown_date_is_said_and_never_made_from_the_moment_of_looking() -> None:
    unknown = changed("candidates.0.sourceTemporal", {"status": "unknown"})
    made_up = changed("candidates.0.sourceTemporal", {"status": "asOf", "asOf": CANDIDATE["retrievedAt"]})

    assert parse_handoff(json.dumps(unknown)).candidates[0].temporal == Temporal("unknown")
    assert faults(changed("candidates.0.sourceTemporal", {})) == [
        ("MISSING_TEMPORAL_STATUS", "candidates[0].sourceTemporal.status")
    ]
    assert faults(made_up) == [("INVALID_TEMPORAL_DATE", "candidates[0].sourceTemporal.asOf")]


def test_a09_all_faults_are_named_at_once() -> None:
    data = changed("candidates.0.source", ..., of=changed("assignment.method", ...))

    assert [code for code, _ in faults(data)] == ["MISSING_METHOD", "MISSING_SOURCE"]


def test_a09_a_report_on_another_question_or_without_findings_is_not_grounded() -> None:
    assert not is_grounded(parse_handoff(json.dumps(GOOD)), QUERY.lower())
    assert not is_grounded(parse_handoff(json.dumps(changed("candidates", []))), QUERY)


@pytest.mark.parametrize(
    ("text", "says_something"),
    [("SKU B12345 rose.", True), ("31 units", True), ("Nothing was returned in May.", True), ("None", False), ("n/a", False),
     ("N.A.", False), ("-", False), ("…", False), ("12", False), ("12,5 %", False), ("no evidence", False), ("keine", False),
     ("<source>", False), ("unknown", False), ("No handoff.", False), ("TODO", False), ("", False), (" \n", False)],
)  # fmt: skip
def test_a09_placeholders_say_nothing(text: str, says_something: bool) -> None:
    assert is_substantive(text) is says_something


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["unknown", "asOf", "2026-01-01", QUERY]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*CANDIDATE, *GOOD, "originalQuery", "status", "asOf", "queryVariants"]), inner, max_size=5
        )
    ),
    max_leaves=15,
)


@given(json_values)
def test_a09_whatever_is_handed_over_is_read_or_refused_and_never_a_crash(data: Any) -> None:
    try:
        handoff = parse_handoff(json.dumps(data))
    except HandoffInvalid as error:
        assert error.faults
    else:
        assert handoff.query and handoff.variants
