"""Folders of documents: which ones a team may search, and when they were last read."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Model
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.errors import CodedError
from assistants.models import DocumentRoot
from assistants.setup.rules import folder_problems

from .scope import ScopedAdmin, ScopedForm, is_root, tenants_of


class RootForm(ScopedForm):
    def problems(self) -> Iterable[CodedError]:
        return folder_problems(self.instance.path) if "path" in self.changed_data else ()


@admin.register(DocumentRoot)
class RootAdmin(ScopedAdmin):
    """The folder is the superuser's to name, since it may be any on the server; a team's admin renames and re-indexes."""

    form = RootForm
    list_display = ("name", "tenant", "path", "public", "documents_in_it", "indexed")
    list_filter = (("tenant", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("tenant",)
    search_fields = ("name", "path")
    actions = ("reindex",)
    readonly_fields = ("indexed", "report")
    fieldsets = (
        (
            None,
            {
                "fields": ("tenant", "name", "path", "public"),
                "description": _(
                    "Assistants of the team with search_documents may search everything in this folder and quote from it."
                    " Nothing is ever written into it."
                ),
            },
        ),
        (_("Index"), {"fields": ("indexed", "report")}),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_root(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_root(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        return [*super().get_readonly_fields(request, obj), *(() if is_root(request) else ("path",))]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(document_count=Count("documents"))

    def get_list_display(self, request: HttpRequest) -> Any:
        return [each for each in self.list_display if each != "tenant" or len(tenants_of(request)) > 1]

    @admin.display(description=_("documents"), ordering="document_count")
    def documents_in_it(self, root: Any) -> int:
        return root.document_count  # type: ignore[no-any-return]

    @admin.action(description=_("Re-index"), permissions=["change"])
    def reindex(self, request: HttpRequest, queryset: Any) -> None:
        for root in queryset:
            self.note(request, "indexed", root)
            try:
                import_module("assistants.documents").index_root(root)
            except CodedError as error:
                messages.error(request, f"{root.name}: {error.message} {error.fix}".strip())
            else:
                messages.success(request, gettext("%s was read again.") % root.name)
