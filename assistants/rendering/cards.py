"""Which template draws a tool's call; an upper app registers the cards of its own tools."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from assistants.models import Thread, ToolCall
from assistants.models.prepared import Prepared

# A template and what it shows of a call: a part of a card that has an element of its own.
Piece = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Card:
    """A template, what it needs beside the call itself, which calls of a thread change while nothing settles, and of which
    pieces a large card consists, so that a page is sent only what looks different."""

    template: str
    context: Callable[[ToolCall], dict[str, Any]]
    at_work: Callable[[Thread], Iterable[ToolCall]] = lambda thread: ()
    pieces: Callable[[ToolCall], list[Piece]] = lambda call: []
    asks: Callable[[ToolCall], bool] = lambda call: False


_cards: dict[str, Card] = {}
PLAIN = Card("events/calls/plain.html", lambda call: {})
APPROVAL = Card("events/calls/approval.html", lambda call: {})


def register_card(
    tool: str,
    template: str,
    context: Callable[[ToolCall], dict[str, Any]] = lambda call: {},
    *,
    at_work: Callable[[Thread], Iterable[ToolCall]] = lambda thread: (),
    pieces: Callable[[ToolCall], list[Piece]] = lambda call: [],
    asks: Callable[[ToolCall], bool] = lambda call: False,
) -> None:
    """Draws calls of this tool with a template of their own. `context` reads what else it shows from the database;
    `at_work` names the settled calls of a thread whose card changes all the same (D2: a child that runs again); `pieces`
    are the parts that change by themselves while the rest of the card stays, none for a card that is drawn whole; `asks` says
    of a call that waits for a person whether this card asks them, and not the one for the approval of arguments."""
    _cards[tool] = Card(template, context, at_work, pieces, asks)


def calls_at_work(thread: Thread) -> list[ToolCall]:
    """The calls of a thread whose cards change by themselves: the open ones and those that their tools name."""
    calls = {call.pk: call for call in _OPEN.rows(thread.pk)}
    for at_work in {card.at_work for card in _cards.values()}:
        calls |= {call.pk: call for call in at_work(thread)}
    return list(calls.values())


_OPEN = Prepared(
    lambda thread: ToolCall.objects.filter(turn__thread=thread, state=ToolCall.State.OPEN).select_related(
        "turn__thread", "message"
    )
)


def card_for(tool: str) -> Card:
    """The tool's card, else the plain one."""
    return _cards.get(tool, PLAIN)
