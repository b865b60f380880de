"""What changed between two versions of an assistant, field by field and line by line."""

import difflib
from dataclasses import dataclass
from typing import Any

LABELS = {
    "name": "Name",
    "slug": "Short name",
    "avatar": "Avatar",
    "description": "Description",
    "instructions": "Instructions",
    "profile": "Model profile",
    "tools": "Tools",
    "approve_tools": "Asks a person first",
    "delegates": "Delegates",
    "domain": "Domain",
    "plan_gate": "Needs a plan",
    "plan_approval": "Approves the plan",
    "turn_tokens": "Tokens for one turn",
    "idle_seconds": "Seconds without a sign of life",
    "wall_seconds": "Seconds in all",
    "public": "Public",
    "may_ask": "May ask",
    "starters": "Starters",
    "max_steps": "Model calls in one turn",
    "enabled": "Enabled",
}


@dataclass(frozen=True)
class Line:
    """One line of a change; `sign` is + for new, - for gone, and empty for a line that stayed."""

    sign: str
    text: str


@dataclass(frozen=True)
class Change:
    """A field that differs, with its lines."""

    label: str
    lines: tuple[Line, ...]


def compare(old: dict[str, Any], new: dict[str, Any]) -> tuple[Change, ...]:
    """The fields that differ, in the order of the form; fields that one of the two doesn't know are passed over."""
    shared = [field for field in LABELS if field in old and field in new]
    return tuple(Change(LABELS[field], _lines(old[field], new[field])) for field in shared if old[field] != new[field])


def _lines(old: Any, new: Any) -> tuple[Line, ...]:
    # The first two lines would name two files.
    found = list(difflib.unified_diff(_as_lines(old), _as_lines(new), lineterm="", n=1))[2:]
    lines = [Line("", "…") if line.startswith("@@") else Line(line[0].strip(), line[1:]) for line in found]
    return tuple(lines[1:])


def _as_lines(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if value is None:
        return ["the site's default"]
    return str(value).splitlines()
