"""What a person says of a result, kept with it; the same word said twice counts once (A-38, A-39)."""

from django.db import transaction

from assistants.turns import events
from subchats.models import CuratedResult

from .memory import remember_feedback


def give(result: CuratedResult, useful: int) -> bool:
    """Notes 1, -1 or 0 for a result. False if it says so already."""
    with transaction.atomic():
        if not CuratedResult.objects.filter(pk=result.pk).exclude(feedback=useful).update(feedback=useful):
            return False
        turn = result.run.turn
        call = turn.calls.filter(name="emit_autorag_results", outcome="ok").first()
        if call is not None:
            events.record(turn.thread_id, "call", call=str(call.pk))
        # The conversation's row before the team's, in the order of a turn that starts.
        remember_feedback(result, useful)
    return True
