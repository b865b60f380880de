"""Who changed or was refused what."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from assistants.models import AuditEntry

from .scope import ReadOnly, ScopedAdmin


@admin.register(AuditEntry)
class AuditAdmin(ReadOnly, ScopedAdmin):
    list_display = ("created", "user", "action", "target", "what", "tenant")
    list_display_links = ("created",)
    list_filter = ("action", ("tenant", admin.RelatedOnlyFieldListFilter), "created")
    list_select_related = ("user", "tenant")
    search_fields = ("action", "target", "user__username")
    fields = ("created", "user", "action", "target", "what", "tenant")
    readonly_fields = ("what",)
    list_per_page = 50

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields

    @admin.display(description=_("detail"))
    def what(self, entry: AuditEntry) -> str:
        detail = dict(entry.detail)
        changes = [_in_words(each) for each in _as_list(detail.pop("changes", []))]
        return "; ".join([*filter(None, changes), *(f"{name}: {value}" for name, value in detail.items())])


def _in_words(change: Any) -> str:
    """One entry of Django's change message: what was done to what, and in which fields."""
    if not isinstance(change, dict):
        return str(change)
    words = []
    for done, to in change.items():
        what = to if isinstance(to, dict) else {"object": to}
        parts = [what.get("name", ""), what.get("object", ""), ", ".join(what.get("fields", ()))]
        words.append(" ".join(filter(None, [f"{done}:", *map(str, parts)])))
    return "; ".join(words)


def _as_list(changes: Any) -> list[Any]:
    return changes if isinstance(changes, list) else [changes]
