"""Evidence in templates."""

import re

from django import template
from django.utils.translation import gettext as _

from subchats.models import Evidence

register = template.Library()
_LINE = re.compile(r"lines?\b.*", re.IGNORECASE)


@register.filter
def place(evidence: Evidence) -> str:
    """Where the quote stands in its document: the page or the like as it was named, else the line."""
    if evidence.locator and not _LINE.fullmatch(evidence.locator):
        return evidence.locator
    return _("line %(line)s") % {"line": evidence.line} if evidence.line else evidence.locator
