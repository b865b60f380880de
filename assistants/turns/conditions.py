"""What upper apps ask of a turn: before it asks the model, and before it may end with a reply."""

from collections.abc import Callable
from dataclasses import dataclass

from assistants.models import Message, Turn
from assistants.models.definition import Definition, definition_in

MAX_REMINDERS = 2


@dataclass(frozen=True)
class Unfinished:
    """What is still missing when a model thinks that it is done. `fatal` fails the turn if reminding does not help."""

    code: str
    note: str
    fatal: bool = True


_before: list[Callable[[Turn, Definition], tuple[str, str] | None]] = []
_at_end: list[Callable[[Turn, Definition, str], Unfinished | None]] = []


def require_before(check: Callable[[Turn, Definition], tuple[str, str] | None]) -> None:
    """Adds a condition for asking the model: a reason code and a sentence fail the turn, None lets it go on."""
    _before.append(check)


def require_at_end(check: Callable[[Turn, Definition, str], Unfinished | None]) -> None:
    """Adds a condition for ending with a reply of this text."""
    _at_end.append(check)


def unmet(turn: Turn, definition: Definition) -> tuple[str, str] | None:
    """The first condition that speaks against asking the model."""
    return next((found for check in _before if (found := check(turn, definition))), None)


def unfinished(turn: Turn, text: str) -> Unfinished | None:
    """The first condition that speaks against ending with this reply."""
    definition = definition_in(turn.thread)
    return next((found for check in _at_end if (found := check(turn, definition, text))), None)


def may_remind(turn: Turn) -> bool:
    """Whether the model is told once more, rather than left at it; counted from the record."""
    ends = turn.messages.filter(role=Message.Role.ASSISTANT, calls=None)
    return ends.count() <= MAX_REMINDERS
