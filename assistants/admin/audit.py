"""Who changed or was refused what."""

import json
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
        return json.dumps(entry.detail, ensure_ascii=False) if entry.detail else ""
