"""The tree of conversations as the sidebar shows it: by day, sub-chats under their parents, each with its state."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from assistants.conversations.overview import ANSWER, UNREAD, Facts
from assistants.models import Assistant, Thread, User
from assistants.models.definition import avatar_of
from assistants.models.prepared import Prepared

from .look import PLAIN, TURNS, Look

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
def conversations(rows: list[dict[str, Any]], facts: Facts, current: Thread | None) -> list[Day]:
    """The days, newest first, with pinned conversations above them.

    A tree is shown in full where the reader is; elsewhere only its sub-chats that work, ask or have news.
    """
    here = current.root_id_or_own if current else None
    days: dict[str, list[Branch]] = {}
    for row in rows:
        root = row["thread"]
        # A question from anywhere in the tree is told at its root too.
        look = TURNS["asking"] if row["state"] == ANSWER else _look(root, facts)
        branch = Branch(root, look, unread=row["state"] == UNREAD)
        listed = [each for each in row["children"] if root.pk == here or facts.state_of(each)]
        branch.children = _hang([_child(each, facts, told=root.pk == here) for each in listed])
        branch.hidden = len(row["children"]) - len(listed)
        label = _("Pinned") if root.pinned else day_label(timezone.localdate(root.updated), timezone.localdate())
        days.setdefault(label, []).append(branch)
    return [Day(label, branches) for label, branches in days.items()]


@register.simple_tag
def first_choice(assistants: Iterable[Assistant], wanted: str | None = None) -> Assistant:
    """Whom an empty chat offers first: the one whose number the address names, else one who can bring in others, since
    it can answer most."""
    return max(assistants, key=lambda each: (str(each.pk) == wanted, "invoke_assistant" in each.tools))


_COLLEAGUES = Prepared(
    lambda tenant, owner: (
        User.objects.filter(memberships__tenant=tenant, is_active=True).exclude(pk=owner).order_by("username")[:50]
    )
)


@register.simple_tag
def colleagues(thread: Thread) -> list[User]:
    """With whom its owner may share the conversation, by name: at most 50, since every page holds them."""
    return _COLLEAGUES.rows(thread.tenant_id, thread.owner_id)


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


@register.simple_tag
def row(branch: Branch, current: Thread | None) -> SafeString:
    """One conversation with what is listed under it. Most rows look as they did the last time, for whoever saw them."""
    children = mark_safe("".join(row(each, current) for each in branch.children))
    thread, here = branch.thread, current is not None and current.pk == branch.thread.pk
    # A sub-chat's title often repeats its parent's; who works in it tells them apart.
    avatar = avatar_of(thread) if thread.parent_id else ""
    looks = (branch.look, branch.unread, branch.hidden, children)
    return _drawn(get_language(), thread.chat_id, thread.title, avatar, here, *looks)


@lru_cache(maxsize=4096)
def _drawn(
    language: str,
    chat_id: str,
    title: str,
    avatar: str,
    here: bool,
    look: Look,
    unread: bool,
    hidden: int,
    children: SafeString,
) -> SafeString:
    context = {
        "chat_id": chat_id,
        "title": title,
        "avatar": avatar,
        "here": here,
        "look": look,
        "unread": unread,
        "hidden": hidden,
    }
    return mark_safe(render_to_string("assistants/parts/branch.html", {**context, "children": children}).strip())


def _hang(listed: list[Branch]) -> list[Branch]:
    """Puts each sub-chat under its parent, or on top if that one is not listed."""
    known = {branch.thread.chat_id: branch for branch in listed}
    top: list[Branch] = []
    for branch in listed:
        above = known.get(branch.thread.parent_id or "")
        (above.children if above else top).append(branch)
    return top


def _child(thread: Thread, facts: Facts, *, told: bool) -> Branch:
    look = _look(thread, facts)
    if told and look is PLAIN:
        look = TURNS.get(facts.outcomes.get(thread.pk, ""), PLAIN)
    return Branch(thread, look, unread=thread.pk in facts.news)


def _look(thread: Thread, facts: Facts) -> Look:
    if thread.pk in facts.asking:
        return TURNS["asking"]
    return TURNS.get(facts.active.get(thread.pk, ""), PLAIN)
