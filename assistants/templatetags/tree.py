"""Where a conversation stands: its ancestors, and who answers in it."""

from django import template

from assistants.models import Thread
from assistants.models.definition import Definition, definition_of

register = template.Library()


@register.simple_tag
def ancestors(thread: Thread) -> list[Thread]:
    """The conversations above a sub-chat, the topmost first."""
    chain: list[Thread] = []
    while thread.parent is not None:
        thread = thread.parent
        chain.insert(0, thread)
    return chain


@register.filter
def answerer(thread: Thread) -> Definition:
    """Who answers in a conversation."""
    return definition_of(thread)
