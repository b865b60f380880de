"""Folders of documents: which ones a team may search, and when they were last read."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Model
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.documents.indexing import index_beside, index_root
from assistants.documents.report import MOST_NAMED, Report, going
from assistants.errors import CodedError
from assistants.models import DocumentRoot
from assistants.sentences import spoken
from assistants.setup.rules import folder_problems

from .scope import ScopedAdmin, ScopedForm, is_root

# A page that answers later than this looks broken; what is left then is read beside it, and the list shows how far it is.
INDEX_SECONDS = 5
LOOK_AGAIN_SECONDS = 3


class RootForm(ScopedForm):
    def problems(self) -> Iterable[CodedError]:
        return folder_problems(self.instance.path) if "path" in self.changed_data else ()


@admin.register(DocumentRoot)
class RootAdmin(ScopedAdmin):
    """The folder is the superuser's to name, since it may be any on the server; a team's admin renames and re-indexes."""

    form = RootForm
    list_display = ("name", "tenant", "path", "public", "documents_in_it", "state", "indexed")
    list_filter = (("tenant", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("tenant",)
    search_fields = ("name", "path")
    actions = ("reindex",)
    readonly_fields = ("state", "indexed", "found", "not_read", "read_in_part", "left_out")
    fieldsets = (
        (
            None,
            {
                "fields": ("tenant", "name", "path", "public", "groups"),
                "description": _(
                    "Assistants of the team with search_documents may search everything in this folder and quote from it."
                    " Nothing is ever written into it."
                ),
            },
        ),
        (_("Index"), {"fields": ("state", "indexed", "found", "not_read", "read_in_part", "left_out")}),
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

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """While a folder is being read the list is fetched again by itself, so that its progress can be seen."""
        response = super().changelist_view(request, extra_context)
        roots = self.get_queryset(request)
        if any((pass_ := going(root)) and not pass_.stalled for root in roots):
            response["Refresh"] = str(LOOK_AGAIN_SECONDS)
        return response

    @admin.display(description=_("state"))
    def state(self, root: DocumentRoot) -> str:
        """Reading (with a bar), broken off, not read yet, can't be read, or ready; the number of failures with it."""
        if pass_ := going(root):
            numbers = {"done": pass_.done, "total": pass_.total}
            if pass_.stalled:
                return gettext("broken off at %(done)d of %(total)d files: index it again") % numbers
            words = gettext("reading: %(done)d of %(total)d files") % numbers
            return format_html('<progress value="{}" max="{}"></progress> {}', pass_.done, max(pass_.total, 1), words)
        if root.report.get("problem"):
            return gettext("can't be read")
        if "documents" not in root.report:
            return gettext("not read yet")
        if failures := root.report.get("failed_total", 0):
            return gettext("ready, %(number)d files failed") % {"number": failures}
        return gettext("ready")

    @admin.display(description=_("found"))
    def found(self, root: DocumentRoot) -> str:
        report = root.report
        if problem := report.get("problem"):
            return spoken(problem)
        if "documents" not in report:
            return gettext("Not read yet: choose it in the list, then the action “Re-index”.")
        return gettext("%(documents)d documents in %(passages)d passages") % report

    @admin.display(description=_("failed"))
    def not_read(self, root: DocumentRoot) -> str:
        return _named(root, "failed")

    @admin.display(description=_("read in part"))
    def read_in_part(self, root: DocumentRoot) -> str:
        return _named(root, "partly")

    @admin.display(description=_("left out"))
    def left_out(self, root: DocumentRoot) -> str:
        return _named(root, "skipped")

    @admin.action(description=_("Re-index"), permissions=["change"])
    def reindex(self, request: HttpRequest, queryset: Any) -> None:
        for root in queryset:
            self.note(request, "indexed", root)
            try:
                report = index_root(root, seconds=INDEX_SECONDS)
            except CodedError as error:
                messages.error(request, f"{root.name}: " + spoken(error.told))
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
            index_beside(root)
            messages.warning(request, what + " " + gettext("The rest is read in the background; the list shows how far it is."))


def _named(root: DocumentRoot, sort: str) -> str:
    """The files of one sort in the last report, with the reasons."""
    files = [(each["path"], _in_words(each["reason"])) for each in root.report.get(sort, ())[:MOST_NAMED]]
    return format_html_join("", "<div><code>{}</code> {}</div>", files) or "–"


def _in_words(reasons: str) -> str:
    """One reason or several in the reader's language."""
    return "; ".join(map(spoken, reasons.split("; ")))
