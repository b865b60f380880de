"""Conversations and turns, to look at: their tree, states, calls, events and usage."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, OuterRef, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from assistants.conversations.deletion import delete_thread
from assistants.models import Thread, Turn

from .scope import ReadOnly, ScopedAdmin, is_root
from .tree import branches_of, events_of, run_of, runs_of


@admin.register(Thread)
class ThreadAdmin(ReadOnly, ScopedAdmin):
    """The shape of a conversation. What was said in it, its title too, is shown to nobody whom its owner did not let in."""

    change_form_template = "admin/assistants/thread/change_form.html"
    list_display = ("chat_id", "tenant", "assistant", "owner", "state", "updated")
    list_display_links = ("chat_id",)
    list_filter = (("tenant", admin.RelatedOnlyFieldListFilter), ("assistant", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("tenant", "assistant", "owner", "parent")
    list_per_page = 50
    search_fields = ("chat_id", "owner__username", "assistant__name")
    fields = (
        ("chat_id", "parent_chat"),
        ("tenant", "owner"),
        ("assistant", "state"),
        ("last_message", "last_event"),
        ("created", "updated"),
    )
    readonly_fields = ("parent_chat", "state")

    def get_queryset(self, request: HttpRequest) -> Any:
        newest = Turn.objects.filter(thread=OuterRef("pk")).order_by("-pk").values("state")[:1]
        return super().get_queryset(request).annotate(newest_state=Subquery(newest))

    def get_object(self, *args: Any, **kwargs: Any) -> Any:
        thread = super().get_object(*args, **kwargs)
        if thread is not None:
            thread.title = ""  # what a thread is called by then is its number
        return thread

    def action_checkbox(self, obj: Any) -> Any:
        obj.title = ""
        return super().action_checkbox(obj)

    @admin.display(description=_("parent"))
    def parent_chat(self, thread: Thread) -> str:
        if thread.parent_id is None:
            return "–"
        address = reverse("admin:assistants_thread_change", args=[thread.parent.pk])
        return format_html('<a href="{}">{}</a>', address, thread.parent_id)

    @admin.display(description=_("state"), ordering="newest_state")
    def state(self, thread: Any) -> str:
        if not thread.newest_state:
            return "–"
        word = Turn.State(thread.newest_state).label
        return format_html('<span class="chip state-{}">{}</span>', thread.newest_state, word)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        # A sub-chat goes with the conversation that it belongs to.
        return is_root(request) and (obj is None or getattr(obj, "parent_id", None) is None)

    def delete_model(self, request: HttpRequest, obj: Thread) -> None:
        delete_thread(obj, by=request.user, name=request.user.display_name)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for thread in queryset.filter(parent=None):
            self.delete_model(request, thread)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        return [each.chat_id for each in objs], *super().get_deleted_objects(objs, request)[1:]

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Nothing: `delete_thread` notes it, by number."""

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        thread: Any = kwargs["obj"]
        more = {"branches": branches_of(thread), "runs": runs_of(thread), "events": events_of(thread)}
        return super().render_change_form(request, {**context, **more}, *args, **kwargs)


@admin.register(Turn)
class TurnAdmin(ReadOnly, ScopedAdmin):
    """One run of an assistant: who holds it, what it called and what it used."""

    tenant_path = "thread__tenant"
    change_form_template = "admin/assistants/turn/change_form.html"
    list_display = ("id", "conversation", "state", "reason", "model", "model_calls", "tokens", "cost", "created")
    list_filter = ("state", ("thread__tenant", admin.RelatedOnlyFieldListFilter), "created")
    list_select_related = ("thread",)
    list_per_page = 50
    search_fields = ("thread__chat_id", "reason", "profile_label")
    fields = (
        ("conversation", "state"),
        ("reason", "note_for_the_person"),
        ("model", "assistant_version"),
        ("round", "model_calls"),
        ("input_tokens", "output_tokens", "cost"),
        ("attempt", "crashes", "failures"),
        ("holder", "fence", "lease_until", "wake_at"),
        ("created", "started", "finished"),
    )
    readonly_fields = ("conversation", "model", "note_for_the_person")

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        turn: Any = kwargs["obj"]
        return super().render_change_form(request, {**context, "runs": [run_of(turn)]}, *args, **kwargs)

    @admin.display(description=_("conversation"))
    def conversation(self, turn: Turn) -> str:
        address = reverse("admin:assistants_thread_change", args=[turn.thread_id])
        return format_html('<a href="{}">{}</a>', address, turn.thread.chat_id)

    @admin.display(description=_("profile label"), ordering="profile_label")
    def model(self, turn: Turn) -> str:
        return turn.model_name

    @admin.display(description=_("note"))
    def note_for_the_person(self, turn: Turn) -> str:
        return turn.note

    @admin.display(description=_("tokens"))
    def tokens(self, turn: Turn) -> int:
        return turn.input_tokens + turn.output_tokens
