"""The rows of a kept table as HTML, cell by cell as they were given."""

from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from assistants.rendering.tables import Grid
from assistants.tables.values import as_text

register = template.Library()


@register.filter
def table_rows(grid: Grid) -> SafeString:
    """All rows. Not drawn by a template's loop, which takes a second for the largest table."""
    kinds = [heading.column.type for heading in grid.headings]
    words = {True: escape(_("yes")), False: escape(_("no"))}
    return mark_safe(
        "".join(f"<tr>{''.join(_cell(*pair, words) for pair in zip(kinds, row, strict=True))}</tr>" for row in grid.rows)
    )


def _cell(kind: str, value: Any, words: dict[bool, str]) -> str:
    if value is None:
        return '<td class="none">–</td>'
    if kind == "bool":
        return f"<td>{words[value]}</td>"
    return f'<td class="n">{escape(as_text(value))}</td>' if kind == "number" else f'<td dir="auto">{escape(value)}</td>'
