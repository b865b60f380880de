"""A team's own workflows: found by words like those of the product, and held to the same rules."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from assistants.admin.assistant_form import StarterLines
from assistants.admin.scope import ScopedAdmin, ScopedForm
from assistants.errors import CodedError
from subchats.models import Workflow
from subchats.workflows.catalogue import BUILT_IN, as_workflow
from subchats.workflows.drawing import draw
from subchats.workflows.validation import workflow_problems

from .rows import NodesField

MAX_EXEMPLARS, EXEMPLAR_CHARS = 20, 300


class ExemplarLines(StarterLines):
    """Requests that call for a workflow, one per line."""

    def validate(self, value: Any) -> None:
        if len(value) > MAX_EXEMPLARS or any(len(line) > EXEMPLAR_CHARS for line in value):
            limits = {"lines": MAX_EXEMPLARS, "most": EXEMPLAR_CHARS}
            raise ValidationError(_("At most %(lines)s lines of %(most)s characters."), params=limits)


class WorkflowForm(ScopedForm):
    exemplars = ExemplarLines(
        required=False,
        label=_("Requests that call for it"),
        help_text=_("One per line, in each language in which people ask. A request with the same words finds it first."),
    )
    nodes = NodesField(required=False, label=_("Steps"))

    class Meta:
        model = Workflow
        fields = ("title", "slug", "definition", "exemplars", "nodes", "enabled")
        labels = {"slug": _("Short name")}
        widgets = {"definition": forms.Textarea(attrs={"rows": 3, "dir": "auto"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["nodes"].widget.tenant = self.tenant

    def problems(self) -> Iterable[CodedError]:
        """Those of a step stand at its row; above the rows it says which step each is about."""
        tenant = self.instance.tenant
        owners = set(tenant.assistants.values_list("slug", flat=True))
        taken = {workflow.id for workflow in BUILT_IN}
        rows: dict[int, list[str]] = {}
        for problem in workflow_problems(as_workflow(self.instance), taken=taken, owners=owners):
            field, _dot, place = problem.field.partition(".")
            if place:
                number = int(place.partition(".")[0])
                rows.setdefault(number, []).append(problem.told)
                problem.message = f"{_('Step')} {number + 1}: {problem.message}"
            problem.field = field
            yield problem
        self.fields["nodes"].widget.problems = rows


@admin.register(Workflow)
class WorkflowAdmin(ScopedAdmin):
    """Short names and ids of steps stand in the records of conversations, so a short name is given once and for all."""

    form = WorkflowForm
    list_display = ("title", "slug", "tenant", "step_count", "enabled")
    list_display_links = ("title",)
    list_select_related = ("tenant",)
    list_filter = (("tenant", admin.RelatedOnlyFieldListFilter), "enabled")
    search_fields = ("title", "slug", "definition")
    readonly_fields = ("graph",)
    fieldsets = (
        (
            None,
            {
                "fields": ("tenant", "title", "slug", "definition", "exemplars", "enabled"),
                "description": _(
                    "Assistants with find_graph_workflow find it by the words that a request shares with its title, its"
                    " requests and its definition. No model and no search takes part."
                ),
            },
        ),
        (
            _("Steps"),
            {
                "fields": ("nodes",),
                "description": _(
                    "From top to bottom in the order in which they are done. A step whose tools have all succeeded in a"
                    " conversation is seen as done there. A step of a person has no tools, and its note says who does"
                    " what. Empty a row to remove it; save to get more blank ones. Changing an id forgets what was"
                    " recorded of the step."
                ),
            },
        ),
        (_("As a graph"), {"fields": ("graph",)}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        return [*super().get_readonly_fields(request, obj), *(("slug",) if obj else ())]

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> dict[str, Sequence[str]]:
        return {} if obj else {"slug": ("title",)}

    @admin.display(description=_("steps"))
    def step_count(self, workflow: Workflow) -> int:
        return len(workflow.nodes)

    @admin.display(description="")
    def graph(self, workflow: Workflow) -> str:
        if not workflow.nodes:
            return str(_("Drawn once there are steps."))
        return render_to_string("subchats/parts/graph.html", {"drawing": draw(as_workflow(workflow))})
