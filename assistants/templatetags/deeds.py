"""What tools do, in words for whoever is asked whether they may."""

from django import template
from django.utils.translation import gettext_lazy as _

register = template.Library()
DEEDS = {
    "send_email": _("send this mail"),
    "fetch_url": _("fetch this page"),
    "export_table": _("write this file"),
    "make_chart": _("draw this chart"),
    "search_documents": _("search the documents"),
    "read_document": _("read this document"),
    "invoke_assistant": _("hand this task over"),
    "spawn_agent": _("hand this task over"),
    "spawn_agents": _("hand these tasks over"),
}


@register.filter
def deed(tool: str) -> str:
    """What a call of this tool does, as the end of a question: may it …?"""
    return str(DEEDS[tool]) if tool in DEEDS else str(_("use %(tool)s")) % {"tool": tool}
