"""Listens for turns that start and end, and keeps sub-chats and their callers in step (steps 3 and 9)."""

from typing import Any

from django.db import transaction
from django.dispatch import receiver

from assistants.models import ToolCall, Turn
from assistants.signals import sweeping, turn_finished, turn_started
from assistants.turns import events
from subchats.delegation.deliver import deliver, reconcile, stop_children
from subchats.models import Delegation


@receiver(turn_started)
def join_tree(turn: Turn, **kwargs: Any) -> None:
    """A sub-chat's turn belongs to its caller's tree as long as the caller still waits for it."""
    waiting = Delegation.objects.select_related("call__turn").filter(child=turn.thread, returned_at=None).first()
    if waiting and waiting.call and waiting.call.is_open:
        turn.root_id = waiting.call.turn.root_id or waiting.call.turn_id
        turn.save(update_fields=["root"])


@receiver([turn_started, turn_finished])
def redraw_card(turn: Turn, **kwargs: Any) -> None:
    """The card in the caller's thread shows that its sub-chat works again, or has ended again (D2)."""
    call = ToolCall.objects.select_related("turn").filter(delegations__child=turn.thread).first()
    if call and not call.is_open:
        events.record(call.turn.thread_id, "call", call=str(call.pk))


@receiver(turn_finished)
def deliver_result(turn: Turn, **kwargs: Any) -> None:
    """In the transaction that ended the turn: the caller gets its result; what runs below is stopped after it."""
    deliver(turn)
    transaction.on_commit(lambda: stop_children(turn))


@receiver(sweeping)
def put_right(**kwargs: Any) -> None:
    reconcile()
