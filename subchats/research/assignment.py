"""What an explorer is told to look for: a block of JSON between two sentinels, or three labelled lines (A-25 to A-27)."""

import json
import re
from dataclasses import dataclass
from typing import Any

START = "<<<AUTORAG_ASSIGNMENT_V1>>>"
END = "<<<END_AUTORAG_ASSIGNMENT_V1>>>"
ROLE_LINES = ("Required handoff: include retrievedAt.", "Required handoff: include temporal metadata.")
KEYS = {"originalQuery", "method", "queryVariants"}
_HALF = re.compile("[\ud800-\udfff]")
_LABEL = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\*\*)?(?P<label>original query|selected retrieval method|query variants)(?:\*\*)?\s*:(?:\*\*)?"
    r"(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Assignment:
    """The person's question word for word, one way to look, and the wordings to try."""

    query: str
    method: str
    variants: tuple[str, ...]


class AssignmentInvalid(ValueError):
    """Why a text is no assignment, for the log; the model is told the fix of its code."""


def parse_assignment(text: str) -> Assignment:
    """Reads the one assignment in a task. Without a sentinel the legacy lines are tried. Raises `AssignmentInvalid`."""
    if not _is_text(text):
        raise AssignmentInvalid("the task is no text that could be kept")
    lines = [_bare(line) for line in text.split("\n")]
    if START not in lines and END not in lines:
        return _parse_legacy(text)
    start, end = _block(lines)
    return _read_body("\n".join(lines[start + 1 : end]))


def render_assignment(assignment: Assignment) -> str:
    """The canonical block with its role lines; `parse_assignment` gives the same assignment back."""
    body = {"originalQuery": assignment.query, "method": assignment.method, "queryVariants": list(assignment.variants)}
    return ensure_role_lines("\n".join([START, json.dumps(body, ensure_ascii=False), END]))


def ensure_role_lines(text: str) -> str:
    """Puts exactly one pair of role lines right behind the assignment and takes other copies away; all else stays as it is.

    A text without an assignment comes back unchanged. Doing it twice changes nothing more.
    """
    lines = [line for line in text.split("\n") if _bare(line) not in ROLE_LINES]
    ends = [place for place, line in enumerate(lines) if _bare(line) == END]
    ends = ends or [place for place, line in enumerate(lines) if _LABEL.fullmatch(_bare(line))]
    if not ends:
        return text
    lines[ends[-1] + 1 : ends[-1] + 1] = ROLE_LINES
    return "\n".join(lines)


def _bare(line: str) -> str:
    """A line without the one carriage return that a sender's line ends may have."""
    return line.removesuffix("\r")


def _block(lines: list[str]) -> tuple[int, int]:
    if lines.count(START) != 1 or lines.count(END) != 1:
        raise AssignmentInvalid("there must be exactly one start and one end")
    start, end = lines.index(START), lines.index(END)
    if end < start:
        raise AssignmentInvalid("the end stands before the start")
    return start, end


def _read_body(body: str) -> Assignment:
    try:
        data = json.loads(body, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        raise AssignmentInvalid("the body is no JSON object") from error
    if not isinstance(data, dict) or set(data) != KEYS:
        raise AssignmentInvalid("the body must have exactly originalQuery, method and queryVariants")
    query, method, variants = data["originalQuery"], data["method"], data["queryVariants"]
    if not _is_text(query) or not _is_text(method):
        raise AssignmentInvalid("originalQuery and method must be texts that say something")
    if not isinstance(variants, list) or not variants or not all(_is_text(each) for each in variants):
        raise AssignmentInvalid("queryVariants must be a list of texts that say something")
    return Assignment(query, method.strip(), tuple(variants))


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key stands there twice")
    return data


def _is_text(value: object) -> bool:
    """Whether a value is a text that says something and can be kept: half a character can't."""
    return isinstance(value, str) and bool(value.strip()) and not _HALF.search(value)


def _parse_legacy(text: str) -> Assignment:
    found: dict[str, str] = {}
    for line in text.split("\n"):
        if match := _LABEL.fullmatch(_bare(line)):
            label = match["label"].lower()
            if label in found:
                raise AssignmentInvalid(f"{label} stands there twice")
            found[label] = match["value"].strip().removesuffix("**").strip()
    if len(found) != 3 or not all(found.values()):
        raise AssignmentInvalid("there is neither a block nor the three labelled lines")
    variants = tuple(each.strip() for each in found["query variants"].split(";"))
    if not all(variants):
        raise AssignmentInvalid("a query variant is empty")
    return Assignment(found["original query"], found["selected retrieval method"], variants)
