"""Runs a turn: claims it, repeats a step until it waits or ends, and gives it back."""

import logging
from collections.abc import Callable, Collection

from django.conf import settings
from django.db import Error
from django.db.models import Count, F, Min

from assistants import clock, logs, telemetry
from assistants.errors import LeaseLost
from assistants.models import Turn
from assistants.models.prepared import Prepared
from assistants.units import may_repeat, unit

from . import events, executors
from .act import act
from .claims import Claim, claim_turn, holder_name, holding, release
from .lifecycle import finish_turn, stop_turn
from .think import think

log = logging.getLogger(__name__)
STEPS: dict[str, Callable[[Claim], None]] = {Turn.State.THINKING: think, Turn.State.ACTING: act}

_HELD = Prepared(
    lambda pk, fence: Turn.objects.filter(pk=pk, fence=fence).select_related("thread__owner", "thread__root__owner")
)
_may_run: Callable[[Turn], bool] | None = None


def use_gate(may_run: Callable[[Turn], bool]) -> None:
    """Tells the loop who decides whether a turn may go on; called once, by the app that knows the rights (D7)."""
    global _may_run
    _may_run = may_run


def run_turn(turn_id: int) -> None:
    """Carries the turn on as far as it goes. Returns at once if somebody else does so or nothing is to do."""
    claim = claim_turn(turn_id, holder=holder_name())
    if claim is None:
        return
    telemetry.tell("claimed", turn=turn_id, taken_over=claim.taken_over)
    with logs.about(turn=turn_id):
        _carry_on(turn_id, claim)


def _carry_on(turn_id: int, claim: Claim) -> None:
    deadline = clock.monotonic() + settings.TASKMONKEY["TURN_SECONDS"]
    at_rest = False
    try:
        if claim.taken_over:
            _tell_of_take_over(claim)
        while (turn := _held(claim)) and (step := STEPS.get(turn.state)) and not executors.is_closing():
            logs.know(thread=turn.thread_id, tenant=turn.thread.tenant_id)
            if _may_run and not _may_run(turn):
                stop_turn(turn_id, by="the platform", reason="no_right")
                break
            if clock.monotonic() > deadline:
                _end_late(claim)
                break
            step(claim)
        at_rest = turn is not None and turn.lease_until is None
    except LeaseLost as loss:
        log.info("%s", str(loss))
    except Exception as error:
        log.exception("turn %s broke off", turn_id)
        # A database that went away says nothing about the turn.
        if not (isinstance(error, Error) and may_repeat(error)):
            _count_crash(claim)
    finally:
        if not at_rest:
            release(claim)
            if executors.is_closing():
                executors.enqueue(turn_id)


@unit
def _tell_of_take_over(claim: Claim) -> None:
    """Pages that were told of the silence learn that it is over."""
    with holding(claim) as turn:
        events.record_turn(turn)


@unit
def _held(claim: Claim) -> Turn | None:
    """The turn as it stands while the claim holds, with what decides on its rights; None once it is somebody else's."""
    return _HELD.first(claim.turn_id, claim.fence)


@unit
def _count_crash(claim: Claim) -> None:
    """A fault of ours counts like a dead runner: tried again by the sweeper, parked after three times at one step."""
    Turn.objects.filter(pk=claim.turn_id, fence=claim.fence).update(crashes=F("crashes") + 1)


@unit
def _end_late(claim: Claim) -> None:
    minutes = settings.TASKMONKEY["TURN_SECONDS"] // 60
    with holding(claim) as turn:
        finish_turn(
            turn, state=Turn.State.FAILED, reason="limit:time", note=f"The turn worked longer than {minutes:g} minutes."
        )


def next_turn(but: Collection[int]) -> int | None:
    """The turn that a free place is given to, none of `but`: of those that nobody runs, one of the tenant with the fewest
    at work, the oldest of it. So one tenant's hundreds don't hold up another one's first."""
    now = clock.now()
    waiting = Turn.objects.runnable(now).exclude(pk__in=but).values_list("thread__tenant").annotate(first=Min("pk"))
    held = Turn.objects.filter(lease_until__gte=now).values_list("thread__tenant").annotate(count=Count("pk"))
    firsts, at_work = dict(waiting), dict(held)
    order = sorted(firsts, key=lambda tenant: (at_work.get(tenant, 0), firsts[tenant]))
    return firsts[order[0]] if order else None


executors.use_runner(run_turn, next_turn)
