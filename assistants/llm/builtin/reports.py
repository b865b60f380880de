"""What an assistant or helper reported back, read from the six fields of a delegation's result (T-15)."""

import re
from dataclasses import dataclass

from .phrases import phrase
from .refusals import one_line, plain_reason, reason_of
from .talk import Result

_HANDED_BACK = {
    "needed": re.compile(r"\bNeeded: ([\s\S]*?)(?=\nEstablished: |\Z)"),
    "established": re.compile(r"\nEstablished: ([\s\S]*?)(?=\nOwner: |\nThe named owner |\nAct on it now|\Z)"),
    "owner": re.compile(r"\nOwner: ([\w-]+)"),
}


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
    if error.startswith("[HANDED_BACK]"):
        return _handed_back(name, error)
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


def render_failure(report: Report, language: str, *, asked: str, briefly: bool) -> str:
    """Why nothing came of a delegation to whom `asked` was given; briefly, without what had been established."""
    if not report.needed:
        return phrase(language, "no_report", name=report.name, reason=report.reason or phrase(language, "unanswered"))
    lines = [phrase(language, "handed_back", name=report.name, needed=one_line(report.needed))]
    if report.needed.startswith(asked) or report.needed == "Not stated.":
        lines = [phrase(language, "handed_back_all", name=report.name)]
    if report.established and not briefly:
        lines.append(phrase(language, "handed_back_known", established=one_line(report.established)))
    return " ".join(lines)


def _handed_back(name: str, error: str) -> Report:
    told = {key: found[1].strip() for key, pattern in _HANDED_BACK.items() if (found := pattern.search(error))}
    return Report(
        name,
        "",
        complete=False,
        needed=told.get("needed") or "Not stated.",
        established="" if told.get("established") == "nothing" else told.get("established", ""),
        owner=told.get("owner", ""),
    )
