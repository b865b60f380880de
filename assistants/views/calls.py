"""What the card of a tool call leads to: the whole of it, and a person's word on whether it may run."""

import json
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_POST

from assistants import access, forms
from assistants.turns import approvals

from .person import actor, author, name


@require_GET
def withheld(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """What the guard kept from the assistant, whole, as plain text for a person who may read the conversation."""
    call = access.get_call(actor(request), call_id, "read")
    if not call.withheld:
        raise Http404
    return HttpResponse(call.withheld, content_type="text/plain; charset=utf-8")


@require_GET
def arguments(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """All that a call would be run with, as plain text: a person approves nothing that they can't read whole (D8)."""
    call = access.get_call(actor(request), call_id, "read")
    text = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_POST
def approve_call(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """Lets a call run once, with the arguments that were shown or with those that the person put in their place (Q15)."""
    call = access.get_call(actor(request), call_id, "write")
    form = forms.Approval(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    prefix = "argument."
    changes = {key.removeprefix(prefix): str(text) for key, text in request.POST.items() if key.startswith(prefix)}
    approvals.approve(call, by=author(request), name=name(request), shown=form.cleaned_data["hash"], changes=changes)
    return forms.accepted(request, call.turn.thread)


@require_POST
def reject_call(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """Does not let a call run; the assistant reads why."""
    call = access.get_call(actor(request), call_id, "write")
    approvals.reject(call, by=author(request), name=name(request), words=request.POST.get("words", ""))
    return forms.accepted(request, call.turn.thread)
