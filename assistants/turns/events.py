"""Records what a page must learn, in the transaction that changed the state, and announces it once that is committed."""

from typing import Any

from django.db import transaction

from assistants.models import Turn, TurnEvent
from assistants.models.counters import take_event_number
from assistants.models.prepared import Prepared, insert

from . import hub

# Events that are handed out at a time.
STRETCH = 500
# What a person who was away may want to read; a new title or a call's progress is no news.
NEWS = frozenset({"message", "turn"})


_AFTER = Prepared(
    lambda thread, number: TurnEvent.objects.filter(thread=thread, number__gt=number).order_by("number")[:STRETCH]
)


def record(thread_id: int, kind: str, **payload: Any) -> None:
    """Appends event N+1 to the thread; must run inside the transaction of the change (D2).

    Kinds: message, call, turn, queue, log, thread. The payload holds ids only (at most 16 KB, S18),
    and of a turn its state and round, so it has to be saved before.
    The number is taken by an UPDATE, which holds the thread's row until the commit: numbers become visible in order.
    """
    number, root_id = take_event_number(thread_id, news=kind in NEWS)
    if kind == "turn" and "state" not in payload:
        # How a turn's time was spent is read from these (see `conversations.timeline`).
        state = Turn.objects.filter(pk=payload["turn"]).values("state", "round").first()
        payload |= state or {}
    insert(TurnEvent(thread_id=thread_id, number=number, kind=kind, payload=payload))
    announce(f"thread:{thread_id}")
    announce(f"tree:{root_id}", but=f"thread:{thread_id}")


def record_turn(turn: Turn) -> None:
    """Records how a turn stands that was saved just now, without reading it again."""
    record(turn.thread_id, "turn", turn=turn.pk, state=str(turn.state), round=turn.round)


def announce(topic: str, *, but: str = "") -> None:
    """Pokes the topic's watchers when the running transaction is committed, or at once if there is none.

    Whoever watches the topic `but` is left alone: they learn of the same change by that one.
    """
    transaction.on_commit(lambda: hub.poke(topic, but=but), robust=True)


def events_after(thread_id: int, number: int) -> list[TurnEvent]:
    """The thread's next events after `number`, in order, at most `STRETCH` of them."""
    return _AFTER.rows(thread_id, number)
