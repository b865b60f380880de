"""A workflow's steps as rows of a form instead of JSON; problems stand at the row they are about."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils.datastructures import MultiValueDict
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from assistants.models import Tenant
from assistants.tools.registry import all_tools
from subchats.workflows.shape import OPERATOR
from subchats.workflows.validation import MAX_NODES

BLANK_ROWS = 3
TEXTS = ("id", "title", "owner", "produces", "hazard", "note")
SIZES = {"id": 80, "title": 160, "owner": 80, "produces": 500, "hazard": 500, "note": 1000}


class NodeRows(forms.Widget):
    """Every step is a row, with some blank ones below; a row without any words is no step, so emptying removes it.

    `tenant` says whose assistants may own a step, `problems` what is wrong with which row.
    """

    template_name = "admin/subchats/workflow/rows.html"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self.tenant: Tenant | None = None
        self.problems: dict[int, list[str]] = {}

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        # The renderer of forms knows Django's own templates only.
        return mark_safe(render_to_string(self.template_name, self.get_context(name, value, attrs)))

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        nodes = [node for node in value or [] if isinstance(node, dict)]
        blank = max(0, min(BLANK_ROWS if nodes else 2 * BLANK_ROWS, MAX_NODES - len(nodes)))
        rows = [self._row(place, node) for place, node in enumerate([*nodes, *({} for _ in range(blank))])]
        return {**super().get_context(name, "", attrs), "rows": rows, "sizes": SIZES}

    def _row(self, place: int, node: dict[str, Any]) -> dict[str, Any]:
        owner = str(node.get("owner") or "")
        return {
            "place": place,
            "number": place + 1,
            "node": node,
            "requires": ", ".join(map(str, node.get("requires") or ())),
            "owners": [(slug, label, slug == owner) for slug, label in self._owners(owner)],
            "tools": [(name, name in (node.get("operations") or ())) for name in _tool_names(node)],
            "problems": self.problems.get(place, []),
        }

    def _owners(self, chosen: str) -> list[tuple[str, Any]]:
        own = self.tenant.assistants.order_by("name").values_list("slug", "name") if self.tenant else ()
        choices = [("", "—"), (OPERATOR, _("a person")), *own]
        # An assistant that is gone is shown, or nobody could see what the step says.
        return choices if chosen in dict(choices) else [*choices, (chosen, chosen)]

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[dict[str, Any]]:
        """The rows that hold any words, by the place that they were given, else in the order of the page."""
        assert isinstance(data, MultiValueDict)
        rows = []
        for number in range(MAX_NODES + 2 * BLANK_ROWS):
            texts = {each: str(data.get(f"{name}-{number}-{each}", "")).strip() for each in TEXTS}
            tools = [str(each) for each in data.getlist(f"{name}-{number}-operations")]
            needed = [each for each in str(data.get(f"{name}-{number}-requires", "")).replace(",", " ").split() if each]
            if any(texts.values()) or tools or needed:
                place = _place_in(data.get(f"{name}-{number}-place"), number + 1)
                rows.append((place, number, {**texts, "operations": tools, "requires": list(dict.fromkeys(needed))}))
        return [node for _, _, node in sorted(rows, key=lambda row: row[:2])]

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return False

    def id_for_label(self, id_: str) -> str:
        # The label is a heading above many fields, and belongs to none of them.
        return ""


class NodesField(forms.Field):
    """The steps of a workflow as its model stores them; what they must fulfil is asked of the whole workflow."""

    widget = NodeRows

    def clean(self, value: Any) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = value or []
        for place, node in enumerate(nodes):
            for name, most in SIZES.items():
                if len(node[name]) > most:
                    message = _("Step %(number)s: at most %(most)s characters in “%(name)s”.")
                    raise ValidationError(message, params={"number": place + 1, "most": most, "name": name})
        return nodes

    def has_changed(self, initial: Any, data: Any) -> bool:
        return [_plain(node) for node in initial or []] != [_plain(node) for node in data or []]


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    """A step without what is empty in it."""
    return {name: value for name, value in node.items() if value}


def _tool_names(node: dict[str, Any]) -> list[str]:
    known = [tool.name for tool in all_tools()]
    return known + [str(name) for name in node.get("operations") or () if name not in known]


def _place_in(text: Any, otherwise: int) -> float:
    """Where a row is to stand. Halves put one between two others without numbering all of them anew."""
    try:
        place = float(str(text).replace(",", "."))
    except ValueError:
        return otherwise
    return place if 0 <= place <= 1000 else otherwise
