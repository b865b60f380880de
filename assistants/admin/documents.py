"""Folders of documents: which ones a team may search, and when they were last read."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Model
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.documents import Report, index_root
from assistants.errors import CodedError
from assistants.models import DocumentRoot
from assistants.setup.rules import folder_problems

from .scope import ScopedAdmin, ScopedForm, is_root

# A page that answers later than this looks broken; the next pass goes on where this one stopped.
INDEX_SECONDS = 60


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
    readonly_fields = ("indexed", "found", "left_out")
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
        (_("Index"), {"fields": ("indexed", "found", "left_out")}),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_root(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_root(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        return [*super().get_readonly_fields(request, obj), *(() if is_root(request) else ("path",))]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(document_count=Count("documents"))

    @admin.display(description=_("documents"), ordering="document_count")
    def documents_in_it(self, root: Any) -> int:
        return root.document_count

    @admin.display(description=_("found"))
    def found(self, root: DocumentRoot) -> str:
        report = root.report
        if problem := report.get("problem"):
            return problem
        if "documents" not in report:
            return gettext("Not read yet: choose it in the list, then the action “Re-index”.")
        return gettext("%(documents)d documents in %(passages)d passages") % report

    @admin.display(description=_("left out"))
    def left_out(self, root: DocumentRoot) -> str:
        skipped = [(each["path"], each["reason"]) for each in root.report.get("skipped", ())]
        return format_html_join("", "<div><code>{}</code> {}</div>", skipped) or "–"

    @admin.action(description=_("Re-index"), permissions=["change"])
    def reindex(self, request: HttpRequest, queryset: Any) -> None:
        for root in queryset:
            self.note(request, "indexed", root)
            try:
                report = index_root(root, seconds=INDEX_SECONDS)
            except CodedError as error:
                messages.error(request, f"{root.name}: {error.message} {error.fix}".strip())
            else:
                self.tell(request, root, report)

    def tell(self, request: HttpRequest, root: DocumentRoot, report: Report) -> None:
        what = gettext("%(name)s: %(documents)d documents, %(changes)d of them new, changed or gone.") % {
            "name": root.name,
            "documents": report.documents,
            "changes": report.added + report.changed + report.removed,
        }
        if report.complete:
            messages.success(request, what)
        else:
            messages.warning(request, what + " " + gettext("The time was up; index it again to go on."))
