"""Runs a turn: claims it, repeats a step until it waits or ends, and gives it back."""

import logging
from collections.abc import Callable

from django.conf import settings
from django.db.models import F

from assistants import clock
from assistants.errors import LeaseLost
from assistants.models import Turn

from . import executors
from .act import act
from .claims import EMBEDDED_SLOT, Claim, claim_turn, holder_name, holding, release
from .lifecycle import finish_turn, stop_turn
from .think import think

log = logging.getLogger(__name__)
STEPS: dict[str, Callable[[Claim], None]] = {Turn.State.THINKING: think, Turn.State.ACTING: act}


_may_run: Callable[[Turn], bool] | None = None


def use_gate(may_run: Callable[[Turn], bool]) -> None:
    """Tells the loop who decides whether a turn may go on; called once, by the app that knows the rights (D7)."""
    global _may_run
    _may_run = may_run


def run_turn(turn_id: int, *, slot: str = EMBEDDED_SLOT) -> None:
    """Carries the turn on as far as it goes. Returns at once if somebody else does so or nothing is to do."""
    claim = claim_turn(turn_id, holder=holder_name(slot))
    if claim is None:
        return
    deadline = clock.monotonic() + settings.TASKMONKEY["TURN_SECONDS"]
    try:
        while step := STEPS.get(_state(claim)):
            if _may_run and not _may_run(Turn.objects.select_related("thread").get(pk=turn_id)):
                stop_turn(turn_id, by="the platform", reason="no_right")
                break
            if clock.monotonic() > deadline:
                _end_late(claim)
                break
            step(claim)
    except LeaseLost as loss:
        log.info("%s", loss)
    except Exception:
        # A fault of ours counts like a dead runner: tried again by the sweeper, parked after three times at one step.
        log.exception("turn %s broke off", turn_id)
        Turn.objects.filter(pk=turn_id, fence=claim.fence).update(crashes=F("crashes") + 1)
    finally:
        release(claim)


def _state(claim: Claim) -> str:
    """The turn's state while the claim holds; an empty text once it is somebody else's."""
    turn = Turn.objects.filter(pk=claim.turn_id, fence=claim.fence).only("state").first()
    return turn.state if turn else ""


def _end_late(claim: Claim) -> None:
    minutes = settings.TASKMONKEY["TURN_SECONDS"] // 60
    with holding(claim) as turn:
        finish_turn(
            turn, state=Turn.State.FAILED, reason="limit:time", note=f"The turn worked longer than {minutes:g} minutes."
        )


executors.use_runner(run_turn)
