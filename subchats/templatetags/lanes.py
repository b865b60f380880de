"""Draws one lane of a fan-out, the same card as that of a single sub-chat, and says what a sub-chat's own page offers."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.template import Context

from subchats.cards import can_send_back

register = template.Library()
register.filter(can_send_back)


@register.inclusion_tag("subchats/card.html", takes_context=True)
def lane(context: Context, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The card of one sub-chat among its siblings; `facts` is what `cards.lanes_context` says about it."""
    return {**context.flatten(), **facts}
