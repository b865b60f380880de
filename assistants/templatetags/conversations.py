"""The tree of conversations as the sidebar shows it: by day, sub-chats under their parents, each with its state."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from assistants.models import Assistant, Thread, ToolCall, Turn
from assistants.turns.questions import QUESTION_TOOL

from .look import PLAIN, TURNS, Look, turn_look

register = template.Library()


@dataclass
class Branch:
    """One conversation in the tree. `hidden` counts the sub-chats that are not listed."""

    thread: Thread
    look: Look
    children: list["Branch"] = field(default_factory=list)
    hidden: int = 0
    unread: bool = False


@dataclass(frozen=True)
class Day:
    """The conversations of one day, or of a longer time ago."""

    label: str
    branches: list[Branch]


@register.simple_tag
def conversations(rows: list[dict[str, Any]], states: dict[int, str], current: Thread | None) -> list[Day]:
    """The days, newest first, with pinned conversations above them.

    A tree is shown in full where the reader is; elsewhere only its sub-chats that work or ask.
    """
    everything = [row["thread"] for row in rows] + [child for row in rows for child in row["children"]]
    asking = _asking([thread.pk for thread in everything])
    here = current.root_id_or_own if current else None
    days: dict[str, list[Branch]] = {}
    for row in rows:
        root = row["thread"]
        branch = Branch(root, _look(root, states, asking), unread=root.pk != here and root.last_news > root.seen_event)
        listed = [each for each in row["children"] if root.pk == here or each.pk in states or each.pk in asking]
        ends = _ends(listed) if root.pk == here else {}
        branch.children = _hang([Branch(each, _look(each, states, asking, ends.get(each.pk))) for each in listed])
        branch.hidden = len(row["children"]) - len(listed)
        label = _("Pinned") if root.pinned else day_label(timezone.localdate(root.updated), timezone.localdate())
        days.setdefault(label, []).append(branch)
    return [Day(label, branches) for label, branches in days.items()]


@register.simple_tag
def first_choice(assistants: Iterable[Assistant]) -> Assistant:
    """Whom an empty chat offers first: one who can bring in others, since it can answer most."""
    return max(assistants, key=lambda each: "invoke_assistant" in each.tools)


def day_label(day: date, today: date) -> str:
    """How long ago a day was, in words; from a month on its month and year."""
    if day >= today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    if day > today - timedelta(days=7):
        return _("Last 7 days")
    if day > today - timedelta(days=30):
        return _("Last 30 days")
    return date_format(day, "YEAR_MONTH_FORMAT")


def _hang(listed: list[Branch]) -> list[Branch]:
    """Puts each sub-chat under its parent, or on top if that one is not listed."""
    known = {branch.thread.chat_id: branch for branch in listed}
    top: list[Branch] = []
    for branch in listed:
        above = known.get(branch.thread.parent_id or "")
        (above.children if above else top).append(branch)
    return top


def _look(thread: Thread, states: dict[int, str], asking: set[int], end: Turn | None = None) -> Look:
    if thread.pk in asking:
        return TURNS["asking"]
    if thread.pk in states:
        return TURNS.get(states[thread.pk], PLAIN)
    return turn_look(end) if end else PLAIN


def _asking(threads: list[int]) -> set[int]:
    """The threads that wait for a person: an unanswered question, or a call that only a person can settle."""
    calls = ToolCall.objects.filter(turn__thread__in=threads)
    questions = calls.filter(name=QUESTION_TOOL, outcome=ToolCall.Outcome.OK, answer__isnull=True)
    return {*questions.values_list("turn__thread", flat=True), *_undecided(calls)}


def _undecided(calls: Any) -> list[int]:
    return list(calls.filter(needs_decision=True).values_list("turn__thread", flat=True))


def _ends(listed: list[Thread]) -> dict[int, Turn]:
    """The last turn of each sub-chat."""
    turns = Turn.objects.filter(thread__in=[each.pk for each in listed]).order_by("pk")
    return {turn.thread_id: turn for turn in turns.only("state", "reason", "thread_id")}
