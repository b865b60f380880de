"""Evidence in templates."""

import re

from django import template
from django.utils.translation import gettext as _

from assistants.documents.formats import is_marked_up
from subchats.models import Evidence
from subchats.research.unmarked import unmarked

register = template.Library()
_LINE = re.compile(r"(?:(?P<label>.+?), )?lines?\b.*", re.IGNORECASE)
_LABEL = re.compile(r"(page|sheet|slide|attached message) (.+)")


@register.filter
def place(evidence: Evidence) -> str:
    """Where the quote stands in its document: the page or the like as it was named, and the line where that was named too."""
    found = _LINE.fullmatch(evidence.locator)
    if evidence.locator and not found:
        return label(evidence.locator)
    line = _("line %(line)s") % {"line": evidence.line} if evidence.line else ""
    return ", ".join(filter(None, (label(found["label"] or "") if found else "", line))) or evidence.locator


@register.filter
def label(text: str) -> str:
    """The name of a page, sheet, slide or attached message in the reader's language; anything else as it is."""
    found = _LABEL.fullmatch(text)
    if found is None:
        return text
    named = {
        "page": _("page %(name)s"),
        "sheet": _("sheet %(name)s"),
        "slide": _("slide %(name)s"),
        "attached message": _("attached message %(name)s"),
    }
    return named[found[1]] % {"name": found[2]}


@register.filter
def words(evidence: Evidence) -> str:
    """The quote as it is read: without the marks of Markdown, if its document is written in that."""
    return unmarked(evidence.excerpt) if is_marked_up(evidence.source) else evidence.excerpt
