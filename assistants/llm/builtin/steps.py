"""What an errand answers when it is asked how it stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .talk import Talk


@dataclass(frozen=True)
class Call:
    """A tool call that fits the tool's schema."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Need:
    """The errand goes on once these calls have a result."""

    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Answer:
    """The errand is done; `text` is Markdown. `label` names who says it or what it is about, if that has to be told."""

    text: str
    label: str = ""


@dataclass(frozen=True)
class Question:
    """The person has to choose first, among 2 to 6 readings (J-26, J-27)."""

    text: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Miss:
    """The errand found nothing that answers. `text` says so to a person, `established` to another agent (J-24).

    `near` says that the text quotes something close; `final` that there is nothing more to say about it.
    """

    text: str
    established: str
    near: bool = False
    final: bool = False


Step = Need | Answer | Question | Miss


class Errand(Protocol):
    """One piece of a request. Knows nothing but the talk, so that any process can ask it again (D5)."""

    def advance(self, talk: Talk) -> Step: ...
