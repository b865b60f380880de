"""Which call of a parent a sub-chat's turn works for."""

from assistants.models import Turn
from subchats.models import Delegation


def caller_of(turn: Turn) -> str | None:
    """The id of the call that the turn's thread was opened by; None for a conversation of its own."""
    found = Delegation.objects.filter(child_id=turn.thread_id).values_list("call_id", flat=True).first()
    return str(found) if found else None
