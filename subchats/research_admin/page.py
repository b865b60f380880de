"""A team's research on one page: whether it could go ahead, and its explorer with Restore and Accept (A-31, A-41)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.admin.scope import ScopedAdmin
from assistants.errors import CodedError
from assistants.models import Assistant, Tenant, User
from subchats.models import ManagedExplorer
from subchats.research.explorers import accept_explorer, look_at_explorer, restore_explorer
from subchats.research.health import CATEGORIES, Health, check_researcher

# Each of the two models may take so long; the page waits for both.
PROBE_MS = 5000
SOURCE = "admin"
WORDS = {
    "config": _("The settings can be read"),
    "model_resolution": _("Both models are known"),
    "auth_missing": _("Both have their keys"),
    "timeout": _("Answers come in time"),
    "provider_unreachable": _("The providers can be reached"),
    "completion_failed": _("The models answer"),
    "subagent_failed": _("Explorers can be sent out"),
    "ok": _("Research can go ahead"),
}
PROBED = ("timeout", "provider_unreachable", "completion_failed")


@dataclass(frozen=True)
class Row:
    """One category of the check. `state` is clear, fault, or open when nobody was asked."""

    category: str
    words: Any
    state: str


@dataclass(frozen=True)
class ExplorerState:
    """The team's explorer: its assistant if there is one, and why it would not be sent out."""

    assistant: Assistant | None
    version: int
    problem: str


def research_link(assistant: Assistant) -> tuple[str, Any] | None:
    """The way from an assistant's page to its team's research: for those that research, and for the explorer."""
    if assistant.research or ManagedExplorer.objects.filter(assistant=assistant).exists():
        return reverse("admin:assistant_research", args=[assistant.pk]), _("Research")
    return None


def research_view(admin: ScopedAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
    """What can be said without asking a model; with POST both are asked one small thing (A-41)."""
    assistant = _get_visible(admin, request, object_id)
    asks = request.method == "POST"
    researcher = _researcher(assistant)
    health = researcher and check_researcher(researcher, skip_probes=not asks, timeout_ms=PROBE_MS, source=SOURCE)
    if asks:
        admin.note(request, "research_checked", assistant, category=health.category if health else "config")
    context = {
        **admin.admin_site.each_context(request),
        "opts": admin.opts,
        "original": assistant,
        "title": gettext("Research of %(name)s") % {"name": assistant.tenant.name},
        "researcher": researcher,
        "health": health,
        "rows": rows_of(health) if health else (),
        "explorer": explorer_state(assistant.tenant),
    }
    return render(request, "admin/subchats/research.html", context)


def explorer_view(admin: ScopedAdmin, request: HttpRequest, object_id: str, action: str) -> HttpResponse:
    """Restores the team's explorer, or accepts it as it is; nothing else makes a changed one usable (A-31)."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    assistant = _get_visible(admin, request, object_id)
    if action not in ACTIONS:
        raise Http404("There is no such action.")
    change, words = ACTIONS[action]
    try:
        explorer = change(assistant.tenant, request.user)
    except CodedError as error:
        messages.error(request, error.told)
    else:
        admin.note(request, f"explorer_{action.removesuffix('e')}ed", explorer)
        messages.success(request, words)
    return redirect("admin:assistant_research", object_id)


def rows_of(health: Health) -> list[Row]:
    """The eight categories in their order, each with what is known of it."""
    return [Row(category, WORDS[category], _state(category, health)) for category in CATEGORIES]


def explorer_state(tenant: Tenant) -> ExplorerState:
    """What stands about the explorer; makes none."""
    managed = ManagedExplorer.objects.select_related("assistant").filter(tenant=tenant).first()
    try:
        look_at_explorer(tenant)
    except CodedError as error:
        problem = error.told
    else:
        problem = ""
    return ExplorerState(managed.assistant if managed else None, managed.version if managed else 0, problem)


def _state(category: str, health: Health) -> str:
    if category == "ok":
        return "clear" if health.category == "ok" else "fault"
    if category in health.found:
        return "fault"
    return "open" if category in PROBED and health.probes_skipped else "clear"


def _get_visible(admin: ScopedAdmin, request: HttpRequest, object_id: str) -> Assistant:
    """The assistant, if the reader manages its team and it has to do with research."""
    assistant: Assistant = admin.get_visible(request, object_id)
    if research_link(assistant) is None:
        raise Http404("This assistant does no research.")
    return assistant


def _researcher(assistant: Assistant) -> Assistant | None:
    if assistant.research:
        return assistant
    return Assistant.objects.enabled().filter(tenant=assistant.tenant_id, research=True).order_by("pk").first()


def _restore(tenant: Tenant, by: User) -> Assistant:
    return restore_explorer(tenant, by=by)


def _accept(tenant: Tenant, by: User) -> Assistant:
    return accept_explorer(tenant)


ACTIONS: dict[str, tuple[Callable[[Tenant, Any], Assistant], Any]] = {
    "restore": (_restore, _("The explorer is as it ships again.")),
    "accept": (_accept, _("The explorer is accepted as it is now.")),
}
