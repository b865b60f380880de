"""Errors that carry a code, the field at fault, and what to do about it."""

from dataclasses import dataclass


@dataclass(eq=False)
class CodedError(Exception):
    """One refusal object for people, models and logs (rules decision 8).

    `code` is stable and upper-case, `field` a dotted path or empty, `fix` one imperative sentence,
    `correctable` whether the same caller may try again with other input.
    """

    code: str
    message: str
    field: str = ""
    fix: str = ""
    correctable: bool = True

    def __str__(self) -> str:
        return self.message

    @property
    def told(self) -> str:
        """What a person is told: what is wrong, and what to do about it."""
        return f"{self.message} {self.fix}".strip()

    def as_line(self) -> str:
        """Renders the refusal for a model: the coded line, then the instruction."""
        return f"[{self.code}] field={self.field or '-'} fix={self.fix or '-'}\n{self.message}"


class NotAllowed(CodedError):
    """Somebody may see the object but not do this with it (HTTP 403); of an assistant that tries, there is an audit entry."""


class Busy(CodedError):
    """The store or the thread is taken for the moment; nothing was changed (HTTP 503 or 409)."""


@dataclass(eq=False)
class Throttled(CodedError):
    """Too much in too short a time; nothing was changed (HTTP 429). `retry_after` are the seconds to wait."""

    retry_after: int = 60


class LeaseLost(Exception):
    """Somebody else holds this turn now, or ended it: whatever the old holder still wants to write is refused."""
