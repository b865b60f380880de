"""What other apps have to say about a turn beneath its last message; an upper app registers its own."""

from collections.abc import Callable, Collection
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

Contexts = Callable[[Collection[int]], dict[int, dict[str, Any]]]
_notes: dict[str, Contexts] = {}


def register_note(template: str, contexts: Contexts) -> None:
    """Adds a note: `contexts` is asked for all turns of a page at once, by their ids, and answers for those that have one."""
    _notes[template] = contexts


def draw_notes(turns: Collection[int]) -> dict[int, list[SafeString]]:
    """The notes of these turns, drawn; a turn that nobody has anything to say about is left out."""
    drawn: dict[int, list[SafeString]] = {}
    for template, contexts in _notes.items() if turns else ():
        for turn, context in contexts(turns).items():
            drawn.setdefault(turn, []).append(mark_safe(render_to_string(template, context)))
    return drawn
