"""Whom an assistant may hand work to, and which tools it may give away."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.db.models import Exists, Q, QuerySet

from assistants import access
from assistants.models import Assistant, Thread
from assistants.models.definition import Definition
from assistants.models.prepared import Prepared
from assistants.tools.registry import find_tool

from . import refusals


def delegates_of(definition: Definition, thread: Thread) -> list[Assistant]:
    """The assistants that may be called from this thread now: those on its list, else every one of the team that is
    not public; always only what the thread's owner may use (J-14, S27)."""
    if thread.owner_id is None:
        return []
    if definition.delegates is not None:
        listed = Q(pk__in=definition.delegates) if definition.delegates else Q(public=False) & ~Q(pk=definition.assistant_id)
        found = access.usable_by(thread.owner_id).filter(listed, tenant=thread.tenant_id)
        return list(found.select_related("domain").order_by("slug"))
    return _DELEGATES.rows(thread.owner_id, thread.tenant_id, definition.assistant_id or 0)


def _delegates(owner: Any, tenant: Any, caller: Any) -> QuerySet[Assistant]:
    listed = Assistant.delegates.through.objects.filter(from_assistant=caller)
    # A list of which nobody is left is not an empty one: it would open the whole team.
    team = Q(public=False) & ~Q(pk=caller) & ~Exists(listed)
    found = access.usable_by(owner).filter(Q(pk__in=listed.values("to_assistant")) | team, tenant=tenant)
    return found.select_related("domain").order_by("slug")


_DELEGATES = Prepared(_delegates)


def get_delegate(slug: str, allowed: Sequence[Assistant], *, field: str = "assistant") -> Assistant:
    """The assistant with exactly this slug among those of `delegates_of`. Raises `DELEGATE_NOT_ALLOWED` for `field` (J-14)."""
    for each in allowed:
        if each.slug == slug:
            return each
    raise refusals.not_allowed(slug, [each.slug for each in allowed], field=field)


def grant_tools(names: Iterable[str], master: Definition, *, field: str = "tools") -> list[str]:
    """The tools that an ad-hoc agent gets. Raises `TOOL_NOT_GRANTABLE` for the field (decision 10, T-13, T-14, S26)."""
    wanted = list(dict.fromkeys(names))
    refused = [name for name in wanted if not _grantable(name, master)]
    if refused:
        raise refusals.not_grantable(refused, [name for name in master.tools if _grantable(name, master)], field=field)
    return wanted


def _grantable(name: str, master: Definition) -> bool:
    tool = find_tool(name)
    if tool is None or tool.delegates:
        return False
    return name in master.tools or not settings.TASKMONKEY["STRICT_GRANTS"]
