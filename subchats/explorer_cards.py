"""Explorers on the page: their assignment, their findings and the line on their card, in words rather than in JSON."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from assistants.models import Message, Thread
from subchats.models import Delegation, Evidence, ExplorerTask
from subchats.research.assigned import task_of
from subchats.research.assignment import AssignmentInvalid, parse_assignment
from subchats.research.handoff import Candidate, Handoff, HandoffInvalid, parse_handoff
from subchats.research.payload import leaves_of, too_deep
from subchats.research.quotes import find_quote

METHODS = {
    "posix": lazy("reads the files"),
    "discovery": lazy("looks for passages with a like meaning"),
    "datasource": lazy("looks into the data"),
}
_OBJECT = re.compile(r"^\s*(?:```(?:json)?\s*)?\{", re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    """One finding as an explorer reported it. `kept` is what stands of it in the document; without, `reason` may say why
    not, and nothing is known before the report was taken in."""

    words: str
    source: str
    place: str
    kept: Evidence | None
    reason: str


def worded_task(delegation: Delegation) -> str:
    """What an explorer looks for, in one line; a task that is no assignment as it stands."""
    return _worded(delegation.task) or delegation.task


def worded_label(delegation: Delegation) -> str:
    """Where an explorer looks and how: a method that we made has words, one of a model's own stands as it is."""
    folder, dot, method = delegation.label.rpartition(" · ")
    return f"{folder}{dot}{METHODS.get(method, method)}"


def worded_dispatch(arguments: dict[str, Any]) -> tuple[str, str]:
    """Who is sent, and what for, by a dispatch that has opened nothing (yet); nothing of tasks that are no assignments."""
    leaves = [] if too_deep(arguments) else leaves_of(arguments)
    tasks = [task for leaf in leaves if isinstance(task := leaf.fields.get("task"), str)]
    name = _("Explorer") if len(leaves) < 2 else f"{_('Explorer')} × {len(leaves)}"
    return name, " · ".join(dict.fromkeys(words for words in map(_worded, tasks) if words))


def _worded(task: str) -> str:
    """The wordings of an assignment if they say more than its question does, else the question; empty if it is none."""
    try:
        assignment = parse_assignment(task)
    except AssignmentInvalid:
        return ""
    words = [each for each in assignment.variants if each != assignment.query]
    return _("Looks for: %(words)s") % {"words": " · ".join(words)} if words else assignment.query


def worded_report(delegation: Delegation, text: str) -> str:
    """How far an explorer is: what of its findings stood in the documents, or that it puts them together; nothing of prose."""
    report = delegation.report or {}
    if delegation.returned_at:
        found = _object(report.get("reply"))
        candidates, refused = found.get("candidates"), found.get("refused")
        if report.get("success") and isinstance(candidates, list):
            return _counted(len(candidates), len(refused) if isinstance(refused, list) else 0)
        return _("No findings that can be used.") if _OBJECT.search(text) else ""
    return _("Puts its findings together…") if _OBJECT.search(text) else ""


def assignments(thread: Thread, messages: Collection[Message]) -> Mapping[UUID, dict[str, Any]]:
    """The assignment in an explorer's conversation, for a person to read."""
    asked = [each for each in messages if each.role == Message.Role.USER and each.author_id is None]
    if not asked or _delegation_of(thread) is None:
        return {}
    drawn = {}
    for message in asked:
        try:
            drawn[message.pk] = {"assignment": parse_assignment(message.text), "text": message.text}
        except AssignmentInvalid:
            continue
    return drawn


def handoffs(thread: Thread, messages: Collection[Message]) -> Mapping[UUID, dict[str, Any]]:
    """The reports in an explorer's conversation: the findings with what became of them, else the faults."""
    reports = [each for each in messages if each.role == Message.Role.ASSISTANT and _OBJECT.match(each.text)]
    delegation = _delegation_of(thread) if reports else None
    task = task_of(thread) if delegation else None
    if delegation is None or task is None:
        return {}
    return {each.pk: _handoff(each.text, task, delegation) for each in reports}


def _handoff(text: str, task: ExplorerTask, delegation: Delegation) -> dict[str, Any]:
    try:
        handoff: Handoff | None = parse_handoff(text)
        faults: list[str] = []
    except HandoffInvalid as error:
        handoff, faults = None, [f"{fault.code} {fault.path}".strip() for fault in error.faults]
    evidence = list(task.run.evidence.select_related("document"))
    reasons = {each.get("excerpt"): each.get("reason", "") for each in task.faults if isinstance(each, dict)}
    found = [_finding(each, evidence, reasons) for each in handoff.candidates] if handoff else []
    return {
        "findings": found,
        "handoff": handoff,
        "faults": faults,
        "chat_id": task.run.turn.thread.chat_id,
        "looked_up": delegation.returned_at is not None,
        "text": _pretty(text),
    }


def _finding(candidate: Candidate, evidence: list[Evidence], reasons: Mapping[Any, str]) -> Finding:
    here = (each for each in evidence if each.source.endswith(candidate.source) or candidate.source.endswith(each.source))
    kept = next((each for each in here if find_quote(each.excerpt, candidate.evidence)), None)
    reason = "" if kept else reasons.get(candidate.evidence[:200], "")
    return Finding(candidate.evidence, candidate.source, candidate.locator, kept, reason)


def _counted(found: int, refused: int) -> str:
    quotes = ngettext("%(n)s quote found", "%(n)s quotes found", found) % {"n": found}
    words = quotes if found else _("Found nothing")
    if refused:
        thrown = ngettext("%(n)s finding thrown away", "%(n)s findings thrown away", refused) % {"n": refused}
        words = f"{words} · {thrown}"
    return words


def _delegation_of(thread: Thread) -> Delegation | None:
    return Delegation.objects.filter(child=thread, kind=Delegation.Kind.EXPLORE).first() if thread.parent_id else None


def _object(text: object) -> dict[str, Any]:
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _pretty(text: str) -> str:
    """JSON with line breaks, else the text as it is."""
    bare = re.sub(r"\A\s*```(?:json)?\s*\n|\n?```\s*\Z", "", text)
    found = _object(bare)
    return json.dumps(found, ensure_ascii=False, indent=2) if found else text
