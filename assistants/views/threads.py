"""What a person does with whole conversations."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from assistants import access, forms
from assistants.conversations import deletion, forks, sharing, shelf, titles
from assistants.models import User

from .person import actor, author, check_rate, name, visitor_key


@require_POST
def rename_thread(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Gives it a title that no model changes."""
    found = access.get_thread(actor(request), chat_id, "write")
    titles.rename_thread(found, request.POST.get("title", ""))
    return forms.accepted(request, found)


@require_POST
def pin_thread(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Pins it, or takes the pin off; `on` says which."""
    found = access.get_thread(actor(request), chat_id, "write")
    shelf.pin_thread(found, pinned=_wanted(request, otherwise=not found.pinned))
    return forms.accepted(request, found)


@require_POST
def archive_thread(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Puts it away, or back into the list; `on` says which."""
    found = access.get_thread(actor(request), chat_id, "write")
    shelf.archive_thread(found, archived=_wanted(request, otherwise=not found.archived))
    return forms.accepted(request, found)


def _wanted(request: HttpRequest, *, otherwise: bool) -> bool:
    form = forms.Mark(request.POST)
    form.is_valid()
    on = form.cleaned_data.get("on")
    return otherwise if on is None else bool(on)


@require_POST
def delete_thread(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Stops and removes it with everything under it (E1)."""
    found = access.get_thread(actor(request), chat_id, "write")
    deletion.delete_thread(found, by=author(request), name=name(request))
    return forms.go_to(request, "home", deleted=chat_id)


@require_POST
def share_thread(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Lets one more member of the team read it."""
    owner, found = _shareable(request, chat_id)
    form = forms.Reader(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    sharing.share_thread(found, username=form.cleaned_data["username"], by=owner)
    return forms.accepted(request, found)


@require_POST
def unshare_thread(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Takes that right away again."""
    owner, found = _shareable(request, chat_id)
    form = forms.Reader(request.POST)
    if not form.is_valid():
        return forms.refuse(request, form)
    sharing.unshare_thread(found, username=form.cleaned_data["username"], by=owner)
    return forms.accepted(request, found)


def _shareable(request: HttpRequest, chat_id: str) -> tuple[User, access.Thread]:
    who = actor(request)
    found = access.get_thread(who, chat_id, "share")
    if not isinstance(who, User):
        raise access.not_allowed()
    return who, found


@require_POST
def fork_thread(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Copies the branch up to this message into a new conversation of the person's own.

    Whoever may read may copy, if they may use the assistant as well (A2); what an ad-hoc agent was granted stays with
    its owner.
    """
    who = actor(request)
    message = access.get_message(who, message_id, "read")
    assistant = message.thread.assistant
    if not access.may(who, "write", message.thread) and not (assistant and access.may(who, "use", assistant)):
        raise access.not_allowed()
    check_rate(request)
    fork = forks.fork_thread(
        message, owner=author(request), visitor_key=visitor_key(request), client_key=request.POST.get("key", "")[:64]
    )
    return forms.go_to(request, "thread", fork.chat_id, chat_id=fork.chat_id)


@require_POST
def mark_seen(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Notes that the page has shown everything up to event `seq`. Only the owner's own looking counts."""
    who = actor(request)
    found = access.get_thread(who, chat_id)
    number = forms.cursor(request.POST.get("seq"), found)
    if number is not None and access.owns(who, found):
        shelf.mark_seen(found, number)
    return HttpResponse(status=204)
