"""Shows from which call a sub-chat came, on the page of its conversation."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assistants.admin.assistants import AssistantAdmin
from assistants.admin.scope import ReadOnly
from assistants.admin.threads import ThreadAdmin
from subchats.models import Delegation
from subchats.research_admin import page as research_page
from subchats.research_admin import sources as research_sources  # noqa: F401
from subchats.workflow_admin import page as workflow_page  # noqa: F401


class DelegationInline(ReadOnly, admin.StackedInline):
    """One row, only where the conversation is a sub-chat; the conversation's own page has asked who may look."""

    model = Delegation
    fk_name = "child"
    verbose_name_plural = _("delegated")
    fields = (("kind", "called_by"), ("created", "returned_at"), ("handed_back", "sent_up"))
    readonly_fields = ("kind", "called_by", "created", "returned_at", "handed_back", "sent_up")
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or obj.parent_id is not None

    @admin.display(description=_("called by"))
    def called_by(self, delegation: Delegation) -> str:
        call = delegation.call
        if call is None:
            return gettext("the command line")
        return gettext("turn %(number)s, %(tool)s") % {"number": call.turn_id, "tool": call.name}

    @admin.display(description=_("handed back"), boolean=True)
    def handed_back(self, delegation: Delegation) -> bool:
        return delegation.hand_back is not None

    @admin.display(description=_("sent up again"), boolean=True)
    def sent_up(self, delegation: Delegation) -> bool:
        return delegation.sent_turn > 0


ThreadAdmin.inlines = [*ThreadAdmin.inlines, DelegationInline]
AssistantAdmin.more_links.append(research_page.research_link)
AssistantAdmin.more_pages += [
    ("research/", research_page.research_view, "assistant_research"),
    ("explorer/<str:action>/", research_page.explorer_view, "assistant_explorer"),
]
