"""The admin site: signed in like everywhere else, and whoever is turned away is noted."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.defaults import permission_denied

from assistants import access

View = Callable[..., HttpResponse]
# Two groups, each in the order in which somebody goes through them.
SET_UP = (
    *("Tenant", "User", "LLMProfile", "Assistant", "Domain", "DocumentRoot"),
    *("DatasourceGrant", "LocalDiscovery", "Workflow", "Group", "Budget"),
)
LOOK_AFTER = ("Thread", "Turn", "SpendEntry", "AuditEntry")


class Foreign(Http404):
    """Something of a tenant that the person doesn't manage: for them it isn't there."""

    def __init__(self, tenant_id: int | None, target: str) -> None:
        super().__init__("There is no such page.")
        self.tenant_id = tenant_id
        self.target = target


class Site(admin.AdminSite):
    """Plain Django admin: a theme that evaluates script or writes styles into the page can't live under our CSP (S24)."""

    site_title = "TaskMonkey"
    site_header = "TaskMonkey"
    index_title = _("Administration")
    empty_value_display = "–"

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Any admin page; a refusal is noted outside the page's own transaction, which it rolls back (S09)."""
        inner = super().admin_view(view, cacheable)

        def noted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                if request.user.is_authenticated and not self.has_permission(request):
                    raise PermissionDenied
                return inner(request, *args, **kwargs)
            except PermissionDenied as error:
                _note(request, None, request.path)
                # Answered here: raised any further, it would be logged with all the places that it came through.
                return permission_denied(request, error)
            except Foreign as error:
                _note(request, error.tenant_id, error.target)
                raise

        return update_wrapper(noted, view)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one sign-in page, so there is one place that limits guesses (S17)."""
        if request.user.is_authenticated:
            return redirect("admin:index")
        return redirect_to_login(request.GET.get("next", request.path), settings.LOGIN_URL)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[dict[str, Any]]:
        """One list for the index and the side bar: what is set up, and what is looked after."""
        found = {each["object_name"]: each for app in super().get_app_list(request) for each in app["models"]}
        groups = (
            (_("Set up"), "set-up", [found[name] for name in SET_UP if name in found]),
            (_("Look after"), "look-after", [found[name] for name in LOOK_AFTER if name in found]),
        )
        return [
            {"name": name, "app_label": label, "app_url": reverse("admin:index"), "has_module_perms": True, "models": models}
            for name, label, models in groups
            if models
        ]


def _note(request: HttpRequest, tenant_id: int | None, target: str) -> None:
    access.audit("admin.refused", tenant_id=tenant_id, user=request.user, target=target, method=request.method)
