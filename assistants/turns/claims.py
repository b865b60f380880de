"""The two doors through which a turn changes: the runner that holds it, and everybody else who locks it (D4)."""

import os
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Least

from assistants import clock
from assistants.durability import unsynced
from assistants.errors import LeaseLost
from assistants.failpoints import failpoint
from assistants.models import Turn
from assistants.models.prepared import Prepared, put
from assistants.units import unit

# Names this process among all that ever held a lease. The part before the colon names its slot: a process that gets a
# slot's lock knows that whoever held the slot before it is dead.
EMBEDDED_SLOT = "embedded"
AT_WORK = (Turn.State.THINKING, Turn.State.ACTING)
CLAIMED = ("holder", "fence", "attempt", "crashes", "lease_until", "wake_at", "started", "state", "unattended")
# A turn that somebody took up as soon was not left alone.
AT_ONCE = timedelta(seconds=1)
_RUNNABLE = Prepared(lambda pk, now: Turn.objects.runnable(now).select_for_update(no_key=True).filter(pk=pk))
_LOCKED = Prepared(lambda pk: Turn.objects.select_for_update(no_key=True).filter(pk=pk))
_HELD = Prepared(lambda pk, fence: Turn.objects.filter(pk=pk, fence=fence))
_SOME = Prepared(lambda turns: Turn.objects.filter(pk__in=turns))
_run_id = f"{os.getpid()}-{secrets.token_hex(4)}"
_slot = EMBEDDED_SLOT


def use_slot(slot: str) -> None:
    """Names this process's slot, before it claims anything."""
    global _slot
    _slot = slot


def holder_name() -> str:
    """This process as a holder of leases."""
    return f"{_slot}:{_run_id}"


@dataclass(frozen=True)
class Claim:
    """The right to run one turn, as long as `fence` is still the turn's number."""

    turn_id: int
    fence: int
    holder: str
    taken_over: bool


def _lease_end() -> datetime:
    return clock.now() + timedelta(seconds=settings.TASKMONKEY["LEASE_SECONDS"])


@unit
def claim_turn(turn_id: int, *, holder: str) -> Claim | None:
    """Takes a turn that can go on and that nobody holds. None if somebody else was first or there is nothing to do."""
    now = clock.now()
    with unsynced():
        turn = _RUNNABLE.first(turn_id, now)
        if turn is None:
            return None
        taken_over = turn.lease_until is not None
        turn.unattended = _unattended(turn, now)
        turn.holder = holder
        turn.fence += 1
        turn.attempt += 1 if taken_over or not turn.attempt else 0
        turn.crashes += 1 if taken_over else 0
        turn.lease_until = _lease_end()
        turn.wake_at = None
        turn.started = turn.started or now
        if turn.state == Turn.State.PAUSED:
            turn.state = Turn.State.THINKING
        put(turn, *CLAIMED)
    failpoint("turn.claimed")
    return Claim(turn_id, turn.fence, holder, taken_over)


def _unattended(turn: Turn, now: datetime) -> list[list[str]] | None:
    """The turn's spans without a runner, with the one that ends now: since a dead one's lease ran out, or since the turn was
    given back or woken. A sub-chat's limits of time leave them out; nobody watches another turn's."""
    since = turn.lease_until or turn.beat
    watched = turn.root_id is not None and turn.started is not None and turn.state in AT_WORK
    if not watched or since is None or now - since < AT_ONCE:
        return turn.unattended
    return [*(turn.unattended or []), [since.isoformat(), now.isoformat()]]


@contextmanager
def holding(claim: Claim, *related: str, synced: bool = True) -> Iterator[Turn]:
    """The runner's door: one transaction on the locked turn, refused with `LeaseLost` once the fence has moved.

    What is `related` to the turn is read along with it, but not locked. `synced` is False for what need not outlive a power
    failure.
    """
    with transaction.atomic() if synced else unsynced():
        if related and connection.features.has_select_for_update:
            # A statement that waits for a lock reads what it joins as that was before: so the lock comes first.
            _LOCKED.first(claim.turn_id)
        turn = _locked_with(*related).first(claim.turn_id)
        if turn is None or turn.fence != claim.fence or not turn.is_active:
            raise LeaseLost(f"turn {claim.turn_id} is no longer held with fence {claim.fence}")
        yield turn


@contextmanager
def locked(turn_id: int) -> Iterator[Turn]:
    """Everybody else's door: one transaction on the locked turn."""
    with transaction.atomic():
        turn = _LOCKED.first(turn_id)
        if turn is None:
            raise Turn.DoesNotExist(f"turn {turn_id} is gone")
        yield turn


@cache
def _locked_with(*related: str) -> Prepared[Turn]:
    def build(pk: Any) -> "QuerySet[Turn]":
        found = Turn.objects.select_for_update(of=("self",), no_key=True).filter(pk=pk)
        return found.select_related(*related) if related else found

    return Prepared(build)


@unit
def release(claim: Claim) -> None:
    """Gives the lease back, if it is still ours."""
    _HELD.update(claim.turn_id, claim.fence, lease_until=None, holder="", beat=clock.now())


def extend(turn_ids: Sequence[int]) -> None:
    """Prolongs the leases of turns that are held at this moment; a process without a heartbeat lives by this."""
    _SOME.update(turn_ids, lease_until=_lease_end())


def show_life(turn_ids: Sequence[int]) -> None:
    """Tells the watchdog that these turns get on."""
    _SOME.update(turn_ids, beat=clock.now())


@unit
def renew(holder: str, turn_ids: Collection[int] | None = None) -> int:
    """Extends the leases of this process, all or those of the turns that it runs; returns how many it still holds.

    One that its runner could not give back, since no write got through, is not to be held for ever by a process that lives.

    The deepest turn is locked first, as by whoever reports to its caller or reserves from its root: an UPDATE of them all
    would lock them in any order, and be undone as a deadlock.
    """
    with transaction.atomic():
        held = Turn.objects.filter(holder=holder, lease_until__isnull=False).select_for_update(no_key=True).order_by("-pk")
        if turn_ids is not None:
            held = held.filter(pk__in=turn_ids)
        return Turn.objects.filter(pk__in=list(held.values_list("pk", flat=True))).update(lease_until=_lease_end())


def is_held(turn: Turn, now: datetime) -> bool:
    """Whether somebody runs the turn: the opposite of a turn that can be taken up."""
    return turn.lease_until is not None and turn.lease_until >= now


def is_silent(turn: Turn) -> bool:
    """Whether two heartbeats of the turn's holder are missing: it died or hangs, and the turn will be picked up again (P4)."""
    return turn.state in AT_WORK and turn.lease_until is not None and turn.lease_until < _lease_of_the_silent()


def silent_turns() -> "QuerySet[Turn]":
    """All turns that are so."""
    return Turn.objects.filter(state__in=AT_WORK, lease_until__lt=_lease_of_the_silent())


def _lease_of_the_silent() -> datetime:
    return _lease_end() - timedelta(seconds=2 * settings.TASKMONKEY["HEARTBEAT_SECONDS"])


def expire_slot(slot: str, *, but: str) -> int:
    """Ends the leases that a dead process of this slot left behind, so that nobody waits for them to run out. One that has
    run out already keeps its time: since then nobody has run the turn.

    Only to be called by the one process that holds the slot's lock.
    """
    left_behind = Q(holder__startswith=f"{slot}:") & ~Q(holder=but)
    return Turn.objects.filter(left_behind, lease_until__isnull=False).update(
        lease_until=Least("lease_until", clock.now() - timedelta(seconds=1)), fence=F("fence") + 1
    )
