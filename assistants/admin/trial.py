"""A chat with an assistant as it stands in the form, before anything of it is saved."""

from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from assistants import access
from assistants.models import Thread
from assistants.models.definition import draft_of

if TYPE_CHECKING:
    from .scope import ScopedAdmin


def trial_view(admin: "ScopedAdmin", request: HttpRequest, object_id: str) -> HttpResponse:
    """Opens an empty chat that keeps the draft; of a form with faults, shows them and opens nothing.

    The assistant stays as it is saved. Its limits in tokens and seconds hold as they are saved, too.
    """
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    assistant = admin.get_visible(request, object_id)
    person: Any = request.user
    if not access.may(person, "use", assistant):
        raise PermissionDenied
    form = admin.get_form(request, assistant, change=True)(request.POST, request.FILES, instance=assistant)
    if not form.is_valid():
        # Which saves nothing either: the faults are the same.
        return admin.changeform_view(request, object_id, reverse("admin:assistants_assistant_change", args=[assistant.pk]))
    draft = form.instance
    thread = Thread.objects.create(
        tenant_id=draft.tenant_id,
        owner=person,
        assistant_id=draft.pk,
        agent=draft_of(draft, delegates=form.cleaned_data["delegates"]),
        title=(_("Trial: %(name)s") % {"name": draft.name})[:200],
        title_by="person",
        title_asked=True,
    )
    return redirect("thread", thread.chat_id)
