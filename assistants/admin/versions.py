"""The versions of an assistant: what each one changed, and the button that brings it back."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from assistants.errors import CodedError
from assistants.models import AssistantVersion
from assistants.setup.differences import Change, compare
from assistants.setup.versions import restore_version

if TYPE_CHECKING:
    from .scope import ScopedAdmin

SHOWN = 50


@dataclass(frozen=True)
class Entry:
    """A version with what it changed; the very first has nothing to be compared with."""

    version: AssistantVersion
    changes: tuple[Change, ...]
    is_first: bool
    is_current: bool


def versions_view(admin: "ScopedAdmin", request: HttpRequest, object_id: str) -> HttpResponse:
    """The newest 50 versions, newest first."""
    assistant = admin.get_visible(request, object_id)
    context = {
        **admin.admin_site.each_context(request),
        "opts": admin.opts,
        "original": assistant,
        "title": _("Versions of %(name)s") % {"name": assistant.name},
        "entries": _entries(list(assistant.versions.select_related("changed_by")[: SHOWN + 1])),
    }
    return render(request, "admin/assistants/assistant/versions.html", context)


def _entries(found: list[AssistantVersion]) -> list[Entry]:
    return [
        Entry(
            version=version,
            changes=compare(found[place + 1].definition, version.definition) if place + 1 < len(found) else (),
            is_first=version.number == 1,
            is_current=place == 0,
        )
        for place, version in enumerate(found[:SHOWN])
    ]


def restore_view(admin: "ScopedAdmin", request: HttpRequest, object_id: str, number: int) -> HttpResponse:
    """Brings a version back as a new one, and says what could not come back with it."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    assistant = admin.get_visible(request, object_id)
    version = assistant.versions.filter(number=number).first()
    if version is None:
        raise Http404("There is no such version.")
    try:
        restored = restore_version(version, by=request.user)
    except CodedError as error:
        messages.error(request, error.told)
        return redirect("admin:assistant_versions", object_id)
    if restored.version is None:
        messages.info(request, _("Nothing had to be changed: it is already as in version %d.") % number)
    else:
        messages.success(request, _("Restored. It is version %d now.") % restored.version.number)
    if restored.left_out:
        messages.warning(request, _("No longer there, so left out: %s.") % ", ".join(restored.left_out))
    return redirect("admin:assistant_versions", object_id)
