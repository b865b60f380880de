"""What the card of a tool call leads to."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from assistants import access

from .person import actor


@require_GET
def withheld(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """What the guard kept from the assistant, whole, as plain text for a person who may read the conversation."""
    call = access.get_call(actor(request), call_id, "read")
    if not call.withheld:
        raise Http404
    return HttpResponse(call.withheld, content_type="text/plain; charset=utf-8")
