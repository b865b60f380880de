"""Kept tables and their charts, as pages and as files, for whoever may read the conversation."""

from uuid import UUID

from csp.constants import NONE, UNSAFE_INLINE
from csp.decorators import csp
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from assistants import access, forms
from assistants.models import StoredTable
from assistants.rendering import fragments
from assistants.rendering.tables import chart_of, table_context
from assistants.tables.drawing import draw_chart
from assistants.tables.exports import KINDS, export_table
from assistants.tables.pointers import find_table

from .person import actor

SAVED = {"default-src": [NONE], "sandbox": [""], "frame-ancestors": [NONE]}


@require_GET
def table(request: HttpRequest, chat_id: str, pointer: str) -> HttpResponse:
    """All rows of a table, in the order of column number `sort` if there is one, downwards with `order=descending`."""
    who = actor(request)
    found = access.get_thread(who, chat_id)
    kept = _get_table(found, pointer)
    sort, down = forms.number_in(request.GET.get("sort")), request.GET.get("order") == "descending"
    context = {
        "thread": found,
        "table": kept,
        "sidebar": fragments.draw_sidebar(who, found),
        **table_context(kept, sort=sort, down=down),
    }
    return render(request, "assistants/table.html", context)


# Nothing in a file may do anything, even if a browser were made to show it (S23).
@require_GET
@csp(SAVED)
def table_file(request: HttpRequest, chat_id: str, pointer: str, kind: str) -> HttpResponse:
    """The table as a file, to be saved and never shown by the browser."""
    found = access.get_thread(actor(request), chat_id)
    if kind not in KINDS:
        raise Http404("No such kind of file.")
    file = export_table(_get_table(found, pointer), kind)
    headers = {"Content-Disposition": content_disposition_header(True, file.name)}
    return HttpResponse(file.content, content_type=file.media_type, headers=headers)


# The drawing carries its own styles, and nothing else in it may do anything, wherever it is opened.
@require_GET
@csp({"default-src": [NONE], "style-src": [UNSAFE_INLINE], "sandbox": [""], "frame-ancestors": [NONE]})
def chart(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """The drawing of a chart, for a dark page with `look=dark`."""
    drawn = chart_of(access.get_call(actor(request), call_id, "read"))
    if drawn is None:
        raise Http404("No such chart.")
    return HttpResponse(draw_chart(drawn, dark=request.GET.get("look") == "dark"), content_type="image/svg+xml")


def _get_table(found: access.Thread, pointer: str) -> StoredTable:
    kept = find_table(found, pointer)
    if kept is None:
        raise Http404("No such table.")
    return kept
