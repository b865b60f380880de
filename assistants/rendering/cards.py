"""Which template draws a tool's call; an upper app registers the cards of its own tools."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from assistants.models import Thread, ToolCall


@dataclass(frozen=True)
class Card:
    """A template, what it needs beside the call itself, and which calls of a thread change while nothing settles."""

    template: str
    context: Callable[[ToolCall], dict[str, Any]]
    at_work: Callable[[Thread], Iterable[ToolCall]] = lambda thread: ()


_cards: dict[str, Card] = {}
PLAIN = Card("events/calls/plain.html", lambda call: {})


def register_card(
    tool: str,
    template: str,
    context: Callable[[ToolCall], dict[str, Any]] = lambda call: {},
    *,
    at_work: Callable[[Thread], Iterable[ToolCall]] = lambda thread: (),
) -> None:
    """Draws calls of this tool with a template of their own. `context` reads what else it shows from the database;
    `at_work` names the settled calls of a thread whose card changes all the same (D2: a child that runs again)."""
    _cards[tool] = Card(template, context, at_work)


def calls_at_work(thread: Thread) -> list[ToolCall]:
    """The calls of a thread whose cards change by themselves: the open ones and those that their tools name."""
    found = ToolCall.objects.filter(turn__thread=thread, state=ToolCall.State.OPEN)
    calls = {call.pk: call for call in found.select_related("turn__thread", "message")}
    for at_work in {card.at_work for card in _cards.values()}:
        calls |= {call.pk: call for call in at_work(thread)}
    return list(calls.values())


def card_for(tool: str) -> Card:
    """The tool's card, else the plain one."""
    return _cards.get(tool, PLAIN)
