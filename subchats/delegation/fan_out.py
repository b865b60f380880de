"""The reports of the sub-chats that one call opened, put together for their caller (J-11)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from assistants.models import ToolCall
from subchats.models import Delegation

# What a report takes beside the texts that are cut: its keys, ids, label and the names of tools.
FRAME_CHARS = 1500
CUT = "\n[Cut: {kept} of {whole} characters shown. All of it stands in the sub-chat.]"


@dataclass(frozen=True)
class Together:
    """What a call is settled with: text, or text that the guard has read already. A fan-out failed only if nobody reported."""

    value: object
    outcome: str
    code: str


def put_together(parts: Sequence[Delegation]) -> Together:
    """`{"reports": [{"label", the six fields}, …]}` in the order of the request; whatever became of one costs only itself.

    A model reads a bounded piece of a result (J8). Each report gets its share of that, and what short ones leave over
    goes to the long ones, so that none is missing because of another.
    """
    reports = [{"label": part.label, **(part.report or {})} for part in sorted(parts, key=lambda part: part.position)]
    room = max(settings.TASKMONKEY["MAX_RESULT_SHOWN_CHARS"] // len(reports) - FRAME_CHARS, 400) * len(reports)
    share = _share([_width(report.get("reply")) + _width(report.get("error")) for report in reports], room)
    value = json.dumps({"reports": [_cut(report, share) for report in reports]}, ensure_ascii=False)
    good = any(report.get("success") for report in reports)
    return Together(value, ToolCall.Outcome.OK if good else ToolCall.Outcome.ERROR, "" if good else "NO_REPORT")


def _share(widths: Sequence[int], room: int) -> int:
    """How wide the widest may be, so that all of them fit into the room."""
    left = room
    for place, width in enumerate(sorted(widths)):
        share = left // (len(widths) - place)
        if width > share:
            return share
        left -= width
    return room


def _cut(report: Mapping[str, Any], share: int) -> dict[str, Any]:
    """The report with its two long texts within the share; an error says what to do and so goes first."""
    if _width(report.get("reply")) + _width(report.get("error")) <= share:
        return dict(report)
    error = _shorten(report["error"], share // 2) if report.get("error") else report.get("error")
    return {**report, "error": error, "reply": _shorten(report.get("reply") or "", share - _width(error))}


def _shorten(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    kept = text[:width]
    while kept and _width(kept) + len(CUT) + 12 > width:
        kept = kept[: len(kept) * 9 // 10]
    return kept + CUT.format(kept=len(kept), whole=len(text))


def _width(text: str | None) -> int:
    """The characters that the text takes inside JSON."""
    return len(json.dumps(text or "", ensure_ascii=False))
