"""Which template draws a tool's call; an upper app registers the cards of its own tools."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assistants.models import ToolCall


@dataclass(frozen=True)
class Card:
    """A template and what it needs beside the call itself."""

    template: str
    context: Callable[[ToolCall], dict[str, Any]]


_cards: dict[str, Card] = {}
PLAIN = Card("events/calls/plain.html", lambda call: {})


def register_card(tool: str, template: str, context: Callable[[ToolCall], dict[str, Any]] = lambda call: {}) -> None:
    """Draws calls of this tool with a template of their own. `context` reads what else it shows from the database."""
    _cards[tool] = Card(template, context)


def card_for(tool: str) -> Card:
    """The tool's card, else the plain one."""
    return _cards.get(tool, PLAIN)
