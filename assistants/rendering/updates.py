"""What a page is told when something has changed: events, cards, panel and list; all that is due is drawn in one go."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from assistants.desk import desk
from assistants.models import Message, TurnEvent
from assistants.turns import live
from assistants.turns.events import STRETCH

from .fragments import Viewpoint, draw_news, draw_open_cards, draw_panel, draw_sidebar

# The parts of a page, by the topics that tell of their changes.
NEWS, CARDS, PANEL, SIDEBAR = PARTS = ("thread", "tree", "panel", "user")
# Events whose drawing holds whole messages.
REDRAWING = ("message", "log")


@dataclass(frozen=True)
class Update:
    """Frames of events, whether they redraw messages, and the live reply if the record says that it has ended; then the
    fragments of each other part, by their elements.

    Where there are more events than are told at a time (`is_whole` is False), the other parts wait for the last of them.
    """

    news: list[dict[str, Any]] = field(default_factory=list)
    redraws: bool = False
    ended: UUID | None = None
    pieces: dict[str, dict[str, str]] = field(default_factory=dict)
    is_whole: bool = True


def draw_update(view: Viewpoint, found: Sequence[TurnEvent], parts: Collection[str]) -> Update:
    """Draws events that were read before the view, and those of the other parts that are asked for.

    The panel is left out of the events: many in a row change it, and it is a part of its own. Each part is drawn in its turn
    among requests and the steps of turns: two threads that work at once slow down each other, and both of them the loop.
    """
    with desk.place():
        redraws = any(event.kind in REDRAWING for event in found)
        news = draw_news(found, view, but=("panel",))
        ended = _ended_reply(view.thread.pk) if redraws else None
    if len(found) >= STRETCH:
        return Update(news, redraws, ended, is_whole=False)
    pieces: dict[str, dict[str, str]] = {}
    # How things stand comes after the events: it must not say that an answer is there before the answer is.
    for part, draw in _DRAWN.items():
        if part in parts:
            with desk.place():
                pieces[part] = draw(view)
    return Update(news, redraws, ended, pieces)


_DRAWN: dict[str, Callable[[Viewpoint], dict[str, str]]] = {
    CARDS: draw_open_cards,
    PANEL: lambda view: {"panel": draw_panel(view)},
    SIDEBAR: lambda view: {"sidebar": draw_sidebar(view.actor, view.thread)},
}


def _ended_reply(thread_id: int) -> UUID | None:
    """A reply that somebody stopped may be fed by its model for a moment longer, which nobody is to see."""
    reply = live.current(thread_id)
    if reply is None or Message.objects.filter(pk=reply.message_id, state=Message.State.STREAMING).exists():
        return None
    return reply.message_id
