"""Plans in templates."""

from django import template

from assistants.models import ToolCall
from subchats.cards import refusal_in
from subchats.plan_cards import PlanSeen, plan_seen
from subchats.planning.approval import is_waiting

register = template.Library()


@register.simple_tag
def seen_plan(call: ToolCall) -> PlanSeen:
    """What the card of a write_plan call shows."""
    return plan_seen(call)


@register.filter
def asks_for_plan(call: ToolCall) -> bool:
    """Whether the call waits for a person's word on a plan, and not on its arguments."""
    return is_waiting(call)


@register.filter
def without_code(call: ToolCall) -> str:
    """Why a call was refused, without the line that is meant for a model."""
    return refusal_in(call)[1]
