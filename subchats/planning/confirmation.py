"""A step is done only with evidence, and given up only for a reason (decision 6)."""

from django.db.models import Q

from assistants.errors import CodedError
from assistants.models import PlanApproval, Turn
from assistants.tools.context import ToolContext
from assistants.turns import events
from assistants.turns.claims import locked
from subchats.models import Delegation, Plan, PlanStep

from .record import plan_of
from .wording import says_nothing

S = PlanStep.Status


def confirm(context: ToolContext, index: int, evidence: str, *, skip: bool) -> Plan:
    """Marks a step done, or skipped for the reason that `evidence` gives; the same word twice is harmless.

    Raises `NO_PLAN`, `NO_SUCH_STEP`, `PLAN_NOT_APPROVED`, `EVIDENCE_TRIVIAL`, `STEP_CLOSED`, `STEP_RUNNING`,
    `STEP_NOT_REPORTED`.
    """
    evidence = " ".join(evidence.split())
    status = S.SKIPPED if skip else S.DONE
    with locked(context.turn.pk) as turn:
        plan, step = _step(turn, index)
        if context.definition.plan_approval == PlanApproval.PERSON and not plan.is_approved:
            raise CodedError(
                code="PLAN_NOT_APPROVED",
                message="A person has not approved this version of your plan, so no step of it counts yet.",
                fix="Wait for the answer to write_plan.",
            )
        if (step.status, step.evidence) == (status, evidence):
            return plan
        _check(step, turn, evidence, skip=skip)
        step.status, step.evidence = status, evidence
        step.save(update_fields=["status", "evidence"])
        events.record(turn.thread_id, "panel")
    return plan


def _step(turn: Turn, index: int) -> tuple[Plan, PlanStep]:
    plan = plan_of(turn)
    if plan is None:
        raise CodedError(code="NO_PLAN", message="This turn has no plan.", fix="Go on without confirming, or write_plan first.")
    step = plan.steps.select_related("specialist", "plan").filter(index=index).first()
    if step is None:
        raise CodedError(
            code="NO_SUCH_STEP",
            field="index",
            message=f"The plan has the steps 1 to {plan.steps.count()}.",
            fix="Use the number of a step of the plan.",
        )
    return plan, step


def _check(step: PlanStep, turn: Turn, evidence: str, *, skip: bool) -> None:
    if says_nothing(evidence):
        raise CodedError(
            code="EVIDENCE_TRIVIAL",
            field="evidence",
            message=f"“{evidence[:80]}” is no {'reason' if skip else 'evidence'}. The check is: {step.check_text}",
            fix="Say why it is not needed." if skip else "Say what you saw that fulfils the check: figures, quotes, names.",
        )
    if step.is_closed:
        raise CodedError(
            code="STEP_CLOSED",
            field="index",
            message=f"Step {step.index} is {step.status} already: {step.evidence}",
            fix="Leave it, or append a further step with write_plan.",
            correctable=False,
        )
    if step.status == S.RUNNING:
        raise CodedError(
            code="STEP_RUNNING",
            field="index",
            message=f"Step {step.index} is still being worked on.",
            fix="Wait for its report.",
        )
    if not skip and step.status == S.PENDING and step.specialist and not _has_reported(step, turn):
        raise CodedError(
            code="STEP_NOT_REPORTED",
            field="index",
            message=f"Step {step.index} is for “{step.specialist.slug}”, and nobody has worked on it yet.",
            fix="Hand it over first, or skip it and say why.",
        )


def _has_reported(step: PlanStep, turn: Turn) -> bool:
    """One report may fulfil several steps for the same specialist, or for the domain."""
    fitting = Q(child__assistant=step.specialist)
    if step.domain_id:
        fitting |= Q(child__assistant__domain=step.domain_id)
    since = Delegation.objects.filter(call__turn__thread=turn.thread_id, created__gte=step.plan.created)
    return since.filter(fitting, returned_at__isnull=False).exists()
