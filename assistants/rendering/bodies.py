"""Messages that are drawn as something else than the words they consist of; an upper app registers its own."""

from collections.abc import Callable, Collection, Mapping
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from assistants.models import Message, Thread

Contexts = Callable[[Thread, Collection[Message]], Mapping[UUID, dict[str, Any]]]
_bodies: dict[str, Contexts] = {}


def register_body(template: str, contexts: Contexts) -> None:
    """Draws messages with a template: `contexts` is asked for all of a page at once, and answers for those that it draws."""
    _bodies[template] = contexts


def draw_bodies(thread: Thread, messages: Collection[Message]) -> dict[UUID, SafeString]:
    """The messages that are not drawn as they were written, drawn; one that still grows always is."""
    finished = [each for each in messages if each.state != Message.State.STREAMING]
    drawn: dict[UUID, SafeString] = {}
    for template, contexts in _bodies.items() if finished else ():
        for message, context in contexts(thread, finished).items():
            drawn[message] = mark_safe(render_to_string(template, context))
    return drawn
