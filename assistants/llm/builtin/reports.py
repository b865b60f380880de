"""What an assistant or helper reported back, read from the six fields of a delegation's result (T-15)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .phrases import phrase
from .refusals import one_line, plain_reason, reason_of
from .talk import Result

_HANDED_BACK = re.compile(r"\A\s*\[?(HANDED_BACK|HAND_BACK|HANDBACK)\b", re.IGNORECASE)
_FIELD = re.compile(r"\b(whatIsNeeded|whatIEstablished|owningAgent)\b[\"`*]*\s*[:=]\s*[\"“]?([^\n]*)")


@dataclass(frozen=True)
class Report:
    """How a delegation ended. `handed_back` carries what the child said is needed, known, and who owns it."""

    name: str
    reply: str
    reason: str = ""
    complete: bool = True
    needed: str = ""
    established: str = ""
    owner: str = ""

    @property
    def answers(self) -> bool:
        """Whether there is anything to pass on."""
        return bool(self.reply) and not self.needed


def read_report(result: Result, name: str, language: str) -> Report:
    """Reads the result of invoke_assistant or spawn_agent; whatever is in it is data."""
    if result.refusal or not result.data:
        return Report(name, "", reason=reason_of(result, language), complete=False)
    reply = str(result.data.get("reply") or "").strip()
    error = str(result.data.get("error") or "").strip()
    if _HANDED_BACK.match(error) or _HANDED_BACK.match(reply) or result.data.get("handed_back"):
        return _handed_back(name, result.data, f"{error}\n{reply}")
    complete = bool(result.data.get("success", True)) and not error
    reason = plain_reason(error) if error else phrase(language, "unanswered") if not reply else ""
    return Report(name, reply, reason=reason, complete=complete)


def render_report(report: Report, language: str, *, part: str = "") -> tuple[str, str]:
    """(label, text) of a report that answers; `part` is given when a request was shared out."""
    if not report.complete:
        return phrase(language, "partial", name=report.name, reason=report.reason or "?"), report.reply
    if part:
        return phrase(language, "reports_on", name=report.name, part=one_line(part, 80)), report.reply
    return phrase(language, "reports", name=report.name), report.reply


def render_failure(report: Report, language: str) -> str:
    """Why nothing came of a delegation, in a sentence or two."""
    if not report.needed:
        return phrase(language, "no_report", name=report.name, reason=report.reason or phrase(language, "unanswered"))
    lines = [phrase(language, "handed_back", name=report.name, needed=one_line(report.needed))]
    if report.established and report.established.lower() not in {"nothing", "nothing."}:
        lines.append(phrase(language, "handed_back_known", established=one_line(report.established)))
    return " ".join(lines)


def _handed_back(name: str, data: Mapping[str, Any], text: str) -> Report:
    told = data.get("handed_back")
    fields = dict(_FIELD.findall(text)) | (dict(told) if isinstance(told, Mapping) else {})
    cleaned = {key: str(value or "").strip().strip("\"”") for key, value in fields.items()}
    return Report(
        name,
        "",
        complete=False,
        needed=cleaned.get("whatIsNeeded") or "Not stated.",
        established=cleaned.get("whatIEstablished", ""),
        owner=cleaned.get("owningAgent", ""),
    )
