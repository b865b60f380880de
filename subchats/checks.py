"""System checks: set-ups of delegation that lead nowhere, and workflows that can't be followed any more."""

from typing import Any

from django.core.checks import CheckMessage, Warning, register
from django.db import DatabaseError

from assistants.models import Assistant
from assistants.tools.registry import tools_of
from subchats.models import Workflow
from subchats.research.setting_up import research_problems
from subchats.workflows.catalogue import as_workflow
from subchats.workflows.validation import workflow_problems


@register("subchats")
def check_delegation(**_: Any) -> list[CheckMessage]:
    """Finds assistants that were given somebody to call but no tool to call them with (T-02)."""
    try:
        return [
            Warning(
                f"assistant “{each}” (number {each.pk}): it has a list of delegates, but no tool to hand them work.",
                hint="Give it invoke_assistant, or empty the list.",
                id="subchats.W001",
            )
            for each in Assistant.objects.enabled().exclude(delegates=None).distinct().order_by("pk")
            if not any(tool.delegates for tool in tools_of(each.tools))
        ]
    except DatabaseError:
        return []


@register("subchats")
def check_research(**_: Any) -> list[CheckMessage]:
    """Finds assistants that are set to research and could not: tools, folders or the explorer are missing (A-02)."""
    try:
        researchers = Assistant.objects.enabled().filter(research=True).select_related("tenant").order_by("pk")
        return [
            Warning(f"assistant “{each}” (number {each.pk}): {problem.message}", hint=problem.fix, id="subchats.W003")
            for each in researchers
            for problem in research_problems(each)
        ]
    except DatabaseError:
        return []


@register("subchats")
def check_workflows(**_: Any) -> list[CheckMessage]:
    """Finds workflows of tenants that have come to break a rule: a tool or an assistant that they name is gone (J-32)."""
    try:
        enabled = list(Workflow.objects.filter(enabled=True).select_related("tenant").order_by("pk"))
        return [
            Warning(
                f"workflow “{row}” (number {row.pk}): {problem.field}: {problem.message}", hint=problem.fix, id="subchats.W002"
            )
            for row in enabled
            for problem in workflow_problems(as_workflow(row), owners=set(row.tenant.assistants.values_list("slug", flat=True)))
        ]
    except DatabaseError:
        return []
