"""What a tool's body can answer."""

from dataclasses import dataclass
from typing import Any

from assistants.errors import CodedError


@dataclass(frozen=True)
class Done:
    """The call is settled. `value` is text or JSON-ready data for the model.

    `ends_turn` names why the turn is over with this call (`question`, `hand_back`), or is empty.
    """

    value: Any
    ends_turn: str = ""


@dataclass(frozen=True)
class Pending:
    """The call stays open: a person or another turn will settle it."""


@dataclass(frozen=True)
class Held:
    """The call stays open until a person has agreed to exactly these arguments; `why` holds the reasons' codes (D8)."""

    why: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """The call was not carried out; the model reads why and what to do instead (decision 8)."""

    error: CodedError


Outcome = Done | Pending | Held | Refused
