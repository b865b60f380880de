"""Conversations as files: taken along by whoever may read them, and brought in as new ones."""

import json

from csp.decorators import csp
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_POST

from assistants import access, forms
from assistants.conversations.packed import MAX_BYTES
from assistants.conversations.packing import pack_thread, pack_threads
from assistants.conversations.reading_out import read_out
from assistants.conversations.unpacking import bring_in
from assistants.errors import CodedError
from assistants.rendering import fragments

from .person import actor, author
from .tables import SAVED


@require_GET
@csp(SAVED)
def export_thread(request: HttpRequest, chat_id: str, kind: str) -> HttpResponse:
    """The conversation with everything below it, as a file to be saved: `md` to read, `json` to bring in again (Z5, Z6).

    A visitor gets what was said, and nothing of how it was found.
    """
    who = actor(request)
    found, is_visitor = access.get_thread(who, chat_id), isinstance(who, access.Visitor)
    if kind == "md":
        packed = pack_thread(found)
        content, media_type = read_out(packed | {"calls": []} if is_visitor else packed), "text/markdown; charset=utf-8"
    elif kind == "json" and not is_visitor:
        content, media_type = json.dumps(pack_threads([found]), ensure_ascii=False, indent=1), "application/json"
    else:
        raise Http404("No such kind of file.")
    name = f"{slugify(found.title)[:60] or found.chat_id}.{kind}"
    headers = {"Content-Disposition": content_disposition_header(True, name)}
    # A lone half of a character may stand in what a model wrote.
    return HttpResponse(content.encode("utf-8", "replace"), content_type=media_type, headers=headers)


@require_POST
def import_threads(request: HttpRequest) -> HttpResponse:
    """Makes new conversations of the person's from a file, and says what became of each (Z6)."""
    owner = author(request)
    if owner is None:
        raise access.not_allowed()
    file = request.FILES.get("file")
    if file is None:
        fix = "Choose a file that was downloaded as JSON from a conversation's menu."
        raise CodedError(code="IMPORT_UNREADABLE", field="file", message="No file was chosen.", fix=fix)
    brought = bring_in(file.read(MAX_BYTES + 1), owner=owner)
    if forms.wants_json(request):
        skipped = [{"title": each.title, "code": each.error.code, "message": each.error.message} for each in brought.skipped]
        return JsonResponse({"imported": [each.chat_id for each in brought.threads], "skipped": skipped})
    if len(brought.threads) == 1 and not brought.skipped:
        return forms.go_to(request, "thread", brought.threads[0].chat_id)
    context = {"brought": brought, "sidebar": fragments.draw_sidebar(owner, None)}
    return render(request, "assistants/imported.html", context)
