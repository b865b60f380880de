"""Reads what is drawn: messages, their calls, turns with the messages that they end beneath, and what events are about."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from assistants.models import Message, ToolCall, Turn, TurnEvent
from assistants.models.prepared import Prepared
from assistants.turns.outline import Outline, Place, Window, end_of_branch, whole

MESSAGES = Prepared(lambda some: Message.objects.filter(pk__in=some).select_related("author", "turn"))
_CALLS = Prepared(lambda some: ToolCall.objects.filter(pk__in=some).select_related("turn__thread", "message"))
CALLS_OF = Prepared(
    lambda some: (
        ToolCall.objects.filter(message__pk__in=some).select_related("turn__thread", "message").order_by("round", "index")
    )
)
_TURNS = Prepared(lambda some: Turn.objects.filter(pk__in=some).select_related("user_message"))
_BEGUN_WITH = Prepared(
    lambda some: (
        Turn.objects.filter(user_message__pk__in=some)
        .exclude(state=Turn.State.QUEUED)
        .order_by("pk")
        .values_list("pk", "user_message")
    )
)


@dataclass(frozen=True)
class News:
    """What some events are about, as it is now: messages, calls, turns, and the shown branch from the first of these on."""

    messages: dict[UUID, Message]
    calls: dict[UUID, ToolCall]
    turns: dict[int, Turn]
    outline: Outline
    places: dict[int, Place]

    def end_of(self, turn: int) -> list[tuple[Turn, Place]]:
        """The turn and the message that it ends beneath, where the branch shows it."""
        return [(self.turns[turn], self.places[turn])] if turn in self.turns and turn in self.places else []


def news_of(events: Sequence[TurnEvent], thread_id: int) -> News:
    """Reads it in five queries at most, however many events."""
    calls = _CALLS.rows({UUID(event.payload["call"]) for event in events if event.kind == "call"})
    said = MESSAGES.rows({UUID(event.payload["message"]) for event in events if event.kind == "message"})
    turns = _TURNS.rows({event.payload["turn"] for event in events if event.kind == "turn"})
    # A turn ends beneath what it was begun with, or lower.
    numbers = [each.sequence if each else 0 for each in [*said, *(turn.user_message for turn in turns)]]
    outline = end_of_branch(thread_id, before=min(numbers), count=0) if numbers else Outline((), None)
    places = places_of_ends(whole(outline.path)) if turns else {}
    return News(
        messages={each.pk: each for each in said},
        calls={each.pk: each for each in calls},
        turns={each.pk: each for each in turns},
        outline=outline,
        places=places,
    )


def ends_of_turns(window: Window) -> list[tuple[Turn, Place]]:
    """The turns of a stretch of a branch, each with the message that it ends beneath."""
    places = places_of_ends(window)
    return [(turn, places[turn.pk]) for turn in sorted(_TURNS.rows(list(places)), key=lambda each: each.pk)]


def places_of_ends(window: Window) -> dict[int, Place]:
    """By turn. A message without a reply shows its newest turn; an attempt that another one took the place of shows nothing."""
    ends = {place.turn: place for place in window.places if place.role == Message.Role.ASSISTANT and place.turn}
    answered = {place.parent for place in window.path if place.role == Message.Role.ASSISTANT}
    unanswered = {place.pk: place for place in window.places if place.role == Message.Role.USER and place.pk not in answered}
    newest_of = {message: number for number, message in _BEGUN_WITH.rows(list(unanswered))}
    return ends | {number: unanswered[message] for message, number in newest_of.items()}
