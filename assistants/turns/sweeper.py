"""Finds what every hint missed: turns that could go on, and calls whose last sibling was settled (D1)."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, transaction

from assistants import clock
from assistants.models import Thread, ToolCall, Turn
from assistants.signals import sweeping

from . import executors
from .allowance import wake_rested
from .calls import wake_if_settled
from .lifecycle import start_next
from .steering import carry_out_left_behind

log = logging.getLogger(__name__)
# The number of the sweeper's lock among PostgreSQL's advisory locks.
LOCK = 7_265_001
# When this process last swept.
_swept = clock.monotonic()


def sweep() -> int:
    """Rings for every turn that nobody carries on although it could; returns how many. Safe to run anywhere, any time."""
    global _swept
    with _alone() as mine:
        # Two at once do no harm; one that hangs with the lock in its hand would (F09).
        if not mine and clock.monotonic() - _swept < settings.TASKMONKEY["LEASE_SECONDS"]:
            return 0
        _swept = clock.monotonic()
        _wake_settled()
        _begin_queued()
        carry_out_left_behind()
        wake_rested()
        sweeping.send(Turn)
        turns = list(Turn.objects.runnable(clock.now()).values_list("pk", flat=True))
        for turn_id in turns:
            executors.take_or_ring(turn_id)
        return len(turns)


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether no other process sweeps this database at the moment; where one process has it to itself, always."""
    if connection.vendor != "postgresql":
        yield True
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        mine = bool(cursor.fetchone()[0])
    try:
        yield mine
    finally:
        # One that is gone with its connection was given back by that.
        if mine and connection.connection is not None and not connection.needs_rollback:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def _wake_settled() -> None:
    asleep = Turn.objects.filter(state=Turn.State.WAITING).exclude(calls__state=ToolCall.State.OPEN)
    for turn_id in asleep.values_list("pk", flat=True):
        log.warning("turn %s slept although all its calls were settled", turn_id)
        with transaction.atomic():
            # It may be gone by now.
            for turn in Turn.objects.select_for_update(no_key=True).filter(pk=turn_id):
                wake_if_settled(turn)


def _begin_queued() -> None:
    waiting = Turn.objects.filter(state=Turn.State.QUEUED).exclude(thread__turns__state__in=Turn.ACTIVE)
    for thread_id in set(waiting.values_list("thread", flat=True)):
        with transaction.atomic():
            # Whoever sends a message or ends a turn there at this moment holds the row of the thread.
            for thread in Thread.objects.select_for_update(no_key=True).filter(pk=thread_id):
                start_next(thread)
