"""The bounds of one turn; reaching one ends it with the limit's name and keeps what was found (F26)."""

from django.conf import settings

from assistants.models import ToolCall, Turn
from assistants.models.definition import Definition

BAD_CODES = ("BAD_ARGUMENTS", "TOOL_UNKNOWN", "TOOL_NOT_ALLOWED")


def switched_off(definition: Definition) -> tuple[str, str] | None:
    """Whether the assistant was switched off or deleted while its turn waited in the queue or ran."""
    if definition.enabled:
        return None
    return "assistant_disabled", "This assistant was switched off or deleted before it could answer. The message is kept."


def step_limit(turn: Turn, max_steps: int) -> tuple[str, str] | None:
    """Whether the turn may ask the model again: reason code and sentence, or None."""
    if turn.crashes >= settings.TASKMONKEY["MAX_ATTEMPTS"]:
        return "limit:crashes", "The server stopped three times at this very step. It will not be tried again by itself."
    if turn.round >= max_steps:
        return "limit:steps", f"The limit of {max_steps} steps for one turn was reached. What was found so far is kept."
    return None


def bad_rounds_limit(turn: Turn) -> tuple[str, str] | None:
    """Whether the model has sent nothing but unusable calls for too many rounds in a row (F22, F24)."""
    rounds = settings.TASKMONKEY["MAX_BAD_CALL_ROUNDS"]
    first = turn.round - rounds + 1
    if first < 0:
        return None
    codes = turn.calls.filter(round__gte=first).values_list("round", "outcome", "code")
    usable = any(outcome != ToolCall.Outcome.REFUSED or code not in BAD_CODES for _, outcome, code in codes)
    if usable or len({number for number, _, _ in codes}) < rounds:
        return None
    return "limit:bad_calls", f"The model sent unusable tool calls {rounds} times in a row."
