"""What the pages show of a plan: the card that wrote it, the panel's section, and what a turn left open."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from assistants.conversations.present import Present
from assistants.models import Domain, ToolCall, Turn
from assistants.models.definition import definition_of, name_in
from assistants.models.prepared import Prepared
from assistants.templatetags.look import Look
from subchats.models import Plan, PlanStep
from subchats.planning.approval import is_waiting, waiting_steps
from subchats.planning.record import steps_of
from subchats.planning.steps import specialists_for

S = PlanStep.Status
LOOKS = {
    S.PENDING: Look(_("to do"), "circle"),
    S.RUNNING: Look(_("working"), tone="leaf", live=True),
    S.REPORTED: Look(_("reported, to be confirmed"), "file-text", "leaf"),
    S.DONE: Look(_("done"), "check", "leaf"),
    S.INCOMPLETE: Look(_("incomplete"), "triangle-alert", "clay"),
    S.HANDED_BACK: Look(_("handed back"), "corner-up-left", "banana"),
    S.FAILED: Look(_("failed"), "triangle-alert", "clay"),
    S.SKIPPED: Look(_("skipped"), "skip-forward"),
}
LEFT_OPEN = Look(_("left open"), "circle-dashed", "banana")


@dataclass(frozen=True)
class Row:
    """One step as it is shown. `who` and `domain` are names; `chat_id` leads to the sub-chat that works on it."""

    number: int
    description: str
    check: str
    who: str = ""
    domain: str = ""
    specialist_slug: str = ""
    domain_slug: str = ""
    status: str = S.PENDING
    look: Look = LOOKS[S.PENDING]
    evidence: str = ""
    chat_id: str = ""


@dataclass(frozen=True)
class PlanSeen:
    """The card of a write_plan call. `waits` says that a person is asked; `asked_before` steps were approved earlier;
    `specialists` are those that it can name, by short name and name."""

    rows: list[Row]
    waits: bool
    hash: str
    version: int
    asked_before: int
    specialists: list[tuple[str, str]]


def plan_seen(call: ToolCall) -> PlanSeen:
    """While it waits, the steps that a person is asked about; else those that this call wrote; refused, what it wanted.

    Statuses change without the card: they stand in the panel alone.
    """
    plan = _PLANS.first(call.turn_id)
    if plan and is_waiting(call):
        team = specialists_for(definition_of(call.turn.thread), call.turn.thread)
        rows = [_row(step) for step in waiting_steps(plan)]
        return PlanSeen(rows, True, plan.hash, plan.version, plan.approved_steps, [(each.slug, each.name) for each in team])
    rows = [_row(step) for step in _WRITTEN.rows(call.pk)] or _as_sent(call)
    return PlanSeen(rows, False, "", 0, 0, [])


def _as_sent(call: ToolCall) -> list[Row]:
    """The arguments of a call that recorded nothing, whatever a model has put there."""
    sent = call.arguments.get("steps")
    steps = [each for each in sent if isinstance(each, dict)] if isinstance(sent, list) else []
    tenant = call.turn.thread.tenant_id
    return [
        Row(
            number=0,
            description=str(each.get("description", "")),
            check=str(each.get("check", "")),
            who=name_in(tenant, each.get("specialist")),
            domain=_domain_in(tenant, each.get("domain")),
        )
        for each in steps[:20]
    ]


_DOMAINS = Prepared(lambda tenant, slug: Domain.objects.filter(tenant=tenant, slug=slug).values_list("name", flat=True))


def _domain_in(tenant_id: int, slug: Any) -> str:
    return str(slug and (_DOMAINS.first(tenant_id, str(slug)) or slug) or "")


def plan_section(present: Present) -> dict[str, Any] | None:
    """The plan of the present turn, else of the last one; without a plan only how much was handed over without one."""
    turn = present.turn
    if turn is None:
        return None
    plan = _PLANS.first(turn.pk)
    rows = [_row(step) for step in steps_of(plan)] if plan else []
    if not rows and not turn.unplanned_handovers:
        return None
    asks = bool(rows) and plan is not None and not plan.is_approved
    return {
        "rows": rows,
        "done": sum(row.status == S.DONE for row in rows),
        "plan": plan if rows else None,
        "waiting": next(filter(is_waiting, turn.calls.asked()), None) if asks else None,
        "unplanned": turn.unplanned_handovers,
    }


def left_open_notes(turns: Collection[int]) -> dict[int, dict[str, Any]]:
    """By turn: the steps that were neither confirmed nor given up for a reason when it ended (L5); one query."""
    found: dict[int, dict[str, Any]] = {}
    for step in _LEFT.rows(turns):
        if not step.is_closed:
            found.setdefault(step.plan.turn_id, {"steps": []})["steps"].append(step)
    return found


_PLANS = Prepared(lambda turn: Plan.objects.filter(turn=turn))
_WRITTEN = Prepared(
    lambda call: (
        PlanStep.objects.filter(call=call).select_related("specialist", "domain", "delegation__child").order_by("index")
    )
)
_LEFT = Prepared(
    lambda turns: (
        PlanStep.objects.filter(plan__turn__pk__in=turns, plan__turn__state__in=Turn.FINAL)
        .exclude(status=S.DONE)
        .exclude(plan__turn__reason="question")
        .select_related("plan")
        .order_by("plan", "index")
    )
)


def _row(step: PlanStep) -> Row:
    left = step.status == S.SKIPPED and not step.evidence
    return Row(
        number=step.index,
        description=step.description,
        check=step.check_text,
        who=step.specialist.name if step.specialist else "",
        domain=step.domain.name if step.domain else "",
        specialist_slug=step.specialist.slug if step.specialist else "",
        domain_slug=step.domain.slug if step.domain else "",
        status="left_open" if left else step.status,
        look=LEFT_OPEN if left else LOOKS[S(step.status)],
        evidence=step.evidence,
        chat_id=_chat_id(step),
    )


def _chat_id(step: PlanStep) -> str:
    return step.delegation.child.chat_id if step.delegation else ""
