"""Assistants: what they are told, what they may do, and every version they had."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from assistants import access
from assistants.models import Assistant
from assistants.setup import versions

from .assistant_form import AssistantForm
from .scope import ScopedAdmin
from .trial import trial_view
from .versions import restore_view, versions_view


@admin.register(Assistant)
class AssistantAdmin(ScopedAdmin):
    """The form that explains itself. Every change is kept as a version."""

    form = AssistantForm
    change_form_template = "admin/assistants/assistant/change_form.html"
    list_display = ("title", "slug", "tenant", "answered_by", "domain", "tool_count", "public", "enabled", "version")
    list_display_links = ("title",)
    list_select_related = ("tenant", "profile", "domain")
    list_filter = (
        ("tenant", admin.RelatedOnlyFieldListFilter),
        ("domain", admin.RelatedOnlyFieldListFilter),
        "public",
        "enabled",
    )
    search_fields = ("name", "slug", "description")
    prepopulated_fields = {"slug": ("name",)}
    fieldsets = (
        (
            None,
            {
                "fields": ("tenant", ("name", "avatar"), "slug", "description", "enabled"),
                "description": _(
                    "The short name is what other assistants call it by, and the description is what they choose it by:"
                    " write down what it is for, in the words that people use when they ask for it."
                ),
            },
        ),
        (
            _("What it is told"),
            {
                "fields": ("instructions", "starters"),
                "description": _(
                    "The instructions stand at the top of every conversation. Say who it is, what it does, what it must"
                    " not do, and when it should ask back."
                ),
            },
        ),
        (
            _("Model"),
            {
                "fields": ("profile", "max_steps"),
                "description": _("Without a profile it uses the team's own, and without one of those whatever is at hand."),
            },
        ),
        (
            _("What it may do"),
            {
                "fields": ("tools", "approve_tools", "may_ask"),
                "description": _("Start with little. A tool that is missing is easier to add than one too many to undo."),
            },
        ),
        (
            _("Working with others"),
            {
                "fields": ("delegates", "domain"),
                "description": _(
                    "To hand work on it needs the tool invoke_assistant or spawn_agent above. Whoever gets the work needs"
                    " neither. Lists that lead in a circle are refused."
                ),
            },
        ),
        (
            _("As part of a team"),
            {
                "fields": ("research", "plan_gate", "plan_approval", "turn_tokens", ("idle_seconds", "wall_seconds")),
                "description": _(
                    "An assistant that hands work on writes a plan with write_plan and confirms its steps with confirm_step;"
                    " give it both tools. The limits hold for a turn with everything below it, and for each sub-chat."
                ),
            },
        ),
        (
            _("Visitors"),
            {
                "fields": ("public",),
                "description": _(
                    "A public assistant answers people who are not signed in. It can't hold a tool that hands work on,"
                    " and nobody can hand work to it."
                ),
            },
        ),
    )

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        return [
            *(path(f"<path:object_id>/{route}", view(partial(page, self)), name=name) for route, page, name in self.more_pages),
            path("<path:object_id>/versions/", view(self.versions_view), name="assistant_versions"),
            path("<path:object_id>/versions/<int:number>/restore/", view(self.restore_view), name="assistant_restore"),
            path("<path:object_id>/trial/", view(self.trial_view), name="assistant_trial"),
            *super().get_urls(),
        ]

    # Pages that an upper app adds, and the links to them: (address, view, its name) and what gives (address, words).
    more_pages: ClassVar[list[tuple[str, Callable[..., HttpResponse], str]]] = []
    more_links: ClassVar[list[Callable[[Assistant], tuple[str, Any] | None]]] = []

    versions_view = versions_view
    restore_view = restore_view
    trial_view = trial_view

    def save_model(self, request: HttpRequest, obj: Assistant, form: Any, change: bool) -> None:
        if change:
            versions.keep_former(obj.pk)
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        versions.keep_version(form.instance, by=request.user)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        assistant = kwargs.get("obj")
        if assistant and access.may(request.user, "use", assistant):
            context["try_it"] = reverse("admin:assistant_trial", args=[assistant.pk])
        if assistant:
            context["more_links"] = [link for each in self.more_links if (link := each(assistant))]
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description=_("assistant"), ordering="name")
    def title(self, assistant: Assistant) -> str:
        return format_html('<span class="avatar">{}</span> {}', assistant.avatar or assistant.name[:1], assistant.name)

    @admin.display(description=_("model"))
    def answered_by(self, assistant: Assistant) -> Any:
        return assistant.profile or _("the team's")

    @admin.display(description=_("tools"))
    def tool_count(self, assistant: Assistant) -> int:
        return len(assistant.tools)
