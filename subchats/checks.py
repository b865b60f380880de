"""System checks: set-ups of delegation that lead nowhere."""

from typing import Any

from django.core.checks import CheckMessage, Warning, register
from django.db import DatabaseError

from assistants.models import Assistant
from assistants.tools.registry import tools_of


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
