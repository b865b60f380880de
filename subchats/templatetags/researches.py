"""Evidence in templates."""

import re

from django import template
from django.utils.translation import gettext as _

from assistants.documents.formats import is_marked_up
from subchats.models import Evidence
from subchats.research.unmarked import unmarked

register = template.Library()
_LINE = re.compile(r"lines?\b.*", re.IGNORECASE)


@register.filter
def place(evidence: Evidence) -> str:
    """Where the quote stands in its document: the page or the like as it was named, else the line."""
    if evidence.locator and not _LINE.fullmatch(evidence.locator):
        return evidence.locator
    return _("line %(line)s") % {"line": evidence.line} if evidence.line else evidence.locator


@register.filter
def words(evidence: Evidence) -> str:
    """The quote as it is read: without the marks of Markdown, if its document is written in that."""
    return unmarked(evidence.excerpt) if is_marked_up(evidence.source) else evidence.excerpt
