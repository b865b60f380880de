"""Whom an assistant may hand work to, and which tools it may give away."""

from collections.abc import Iterable

from django.conf import settings

from assistants import access
from assistants.models import Assistant, Thread
from assistants.models.definition import Definition
from assistants.tools.registry import find_tool

from . import refusals


def delegates_of(definition: Definition, thread: Thread) -> list[Assistant]:
    """The assistants that may be called from this thread now: those on its list, else every one of the team that is
    not public; always only what the thread's owner may use (J-14, S27)."""
    found = Assistant.objects.enabled().filter(tenant_id=thread.tenant_id)
    chosen = found.filter(delegators=definition.assistant_id) if definition.assistant_id else found.none()
    if not chosen.exists():
        chosen = found.filter(public=False).exclude(pk=definition.assistant_id or 0)
    if thread.owner is None:
        return []
    return [each for each in chosen.order_by("slug") if access.may(thread.owner, "use", each)]


def get_delegate(slug: str, definition: Definition, thread: Thread, *, field: str = "assistant") -> Assistant:
    """The assistant with exactly this slug among the allowed ones. Raises `DELEGATE_NOT_ALLOWED` for the field (J-14)."""
    allowed = delegates_of(definition, thread)
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
