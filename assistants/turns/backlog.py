"""Turns that wait for a free place: how many there are, how many go before one, and what their pages are told."""

from datetime import timedelta

from assistants import clock
from assistants.models import Turn
from assistants.models.turn import TurnQuerySet

from . import events

# A turn that is taken up within so many seconds did not wait for a place.
UNNOTICED_SECONDS = 3.0
# Pages that are told at a time.
TOLD = 200


def waiting() -> TurnQuerySet:
    """Turns that could go on at this moment and that nobody has taken up for longer than it takes."""
    now = clock.now()
    begun = now - timedelta(seconds=UNNOTICED_SECONDS)
    return Turn.objects.runnable(now).filter(lease_until=None, created__lt=begun, state=Turn.State.THINKING, started=None)


def before(turn: Turn) -> int | None:
    """How many others wait for a place and came earlier; None for a turn that does not wait for one."""
    unnoticed = clock.now() - turn.created < timedelta(seconds=UNNOTICED_SECONDS)
    if turn.state != Turn.State.THINKING or turn.started or turn.lease_until or unnoticed:
        return None
    return waiting().filter(pk__lt=turn.pk).count()


def tell_waiting() -> int:
    """Has the pages of those who wait longest drawn again, with how many are before them; gives how many were told."""
    crowd = list(waiting().order_by("pk")[:TOLD])
    for turn in crowd:
        events.record_turn(turn)
    return len(crowd)
