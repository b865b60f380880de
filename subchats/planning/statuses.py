"""Keeps the steps of a plan in step with what is delegated, reported and ended (section 10, decision 6)."""

import re
from collections.abc import Sequence

from django.db.models import Case, F, Value, When

from assistants.models import Assistant, Turn
from assistants.models.prepared import Prepared
from assistants.turns import events
from subchats.delegation.deliver import SubChatResult
from subchats.models import Delegation, Plan, PlanStep

from .record import asks, plan_of, steps_of

S = PlanStep.Status
# A step that went wrong may be handed out again; what has reported needs a later step, or is unplanned.
AGAIN = (S.INCOMPLETE, S.HANDED_BACK, S.FAILED)
CUT_OFF = re.compile(r"^\[[A-Z_]*(?:TIMEOUT|BUDGET|LIMIT|STOPPED|PARENT_ENDED)[A-Z_]*\]")


def matching(steps: Sequence[PlanStep], target: Assistant | None) -> list[PlanStep]:
    """The steps that foresee this assistant, the best first: named itself, then its domain, then somebody of a domain that
    it leads. An ad-hoc agent (None) does what the planning assistant would do itself."""
    if target is None:
        return [step for step in steps if step.specialist_id is None]
    named = [step for step in steps if step.specialist_id == target.pk]
    if target.domain_id is None:
        return named
    at_home = [step for step in steps if step.domain_id == target.domain_id]
    open_to_all = [step for step in at_home if step.specialist_id is None]
    led = [
        step
        for step in at_home
        if step.specialist_id not in (None, target.pk) and step.domain and step.domain.supervisor_id == target.pk
    ]
    return [*named, *open_to_all, *led]


def begin_steps(delegations: Sequence[Delegation], turn: Turn) -> None:
    """For each the first matching step that nobody works on is running now; a delegation that no step foresaw is
    counted (J-15).

    Explorers follow an assignment, not a plan.
    """
    planned = [each for each in delegations if each.kind != Delegation.Kind.EXPLORE]
    if not planned:
        return
    plan = plan_of(turn)
    steps = steps_of(plan) if plan else []
    for delegation in planned:
        found = matching(steps, delegation.child.assistant)
        free = [step for step in found if step.status == S.PENDING] or [step for step in found if step.status in AGAIN]
        if free:
            free[0].status = S.RUNNING
            PlanStep.objects.filter(pk=free[0].pk).update(status=S.RUNNING, delegation=delegation)
        else:
            note_unplanned(turn)
    events.record(turn.thread_id, "panel")


def note_unplanned(turn: Turn) -> None:
    """Counts a delegation that no step of a plan foresaw (J-15)."""
    Turn.objects.filter(pk=turn.pk).update(unplanned_handovers=F("unplanned_handovers") + 1)


def end_step(delegation: Delegation, result: SubChatResult, turn: Turn) -> None:
    """What became of the step of the caller's plan. A report makes it reported, never done (decision 6)."""
    if PlanStep.objects.filter(delegation=delegation, status=S.RUNNING).update(status=status_of(delegation, result)):
        events.record(turn.thread_id, "panel")


def status_of(delegation: Delegation, result: SubChatResult) -> str:
    """Reported, handed back, incomplete when there is a part of a report or it was cut off, else failed."""
    if delegation.hand_back:
        return S.HANDED_BACK
    if result.success:
        return S.REPORTED
    return S.INCOMPLETE if result.reply.strip() or CUT_OFF.match(result.error or "") else S.FAILED


def close_steps(turn: Turn) -> None:
    """The turn is over, unless it asks the person: what was not begun is skipped, without a reason, which shows as left open;
    what still ran is stopped together with the turn (L5)."""
    if asks(turn):
        return
    if left := _UNFINISHED.rows(turn.pk):
        becomes = Case(When(status=S.PENDING, then=Value(S.SKIPPED)), default=Value(S.INCOMPLETE))
        PlanStep.objects.filter(pk__in=left).update(status=becomes)


_UNFINISHED = Prepared(
    lambda turn: PlanStep.objects.filter(plan__turn=turn, status__in=[S.PENDING, S.RUNNING]).values_list("pk", flat=True)
)


def left_open(plan: Plan) -> list[PlanStep]:
    """The steps that were neither confirmed nor given up for a reason."""
    return [step for step in steps_of(plan) if not step.is_closed]
