"""Whom an assistant may hand work to, and which tools it may give away."""

from collections.abc import Iterable, Sequence

from django.conf import settings

from assistants import access
from assistants.models import Assistant, Thread
from assistants.models.definition import Definition
from assistants.tools.registry import find_tool

from . import refusals


def delegates_of(definition: Definition, thread: Thread) -> list[Assistant]:
    """The assistants that may be called from this thread now: those on its list, else every one of the team that is
    not public; always only what the thread's owner may use (J-14, S27)."""
    if thread.owner is None:
        return []
    found = access.assistants_for(thread.owner, thread.tenant_id).order_by("slug")
    listed = list(found.filter(delegators=definition.assistant_id)) if definition.assistant_id else []
    # A list of which nobody is left is not an empty one: it would open the whole team.
    if listed or Assistant.objects.filter(delegators=definition.assistant_id or 0).exists():
        return listed
    return list(found.filter(public=False).exclude(pk=definition.assistant_id or 0))


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
