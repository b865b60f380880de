"""Plans, written into a file of conversations and read out of it again (Z6)."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistants.conversations.unpacking import Ids
from assistants.errors import CodedError
from assistants.models import Assistant, Domain, Thread
from subchats.models import Delegation, Plan, PlanStep

from .record import seal

Slug = Annotated[str, Field(max_length=80)]
Id = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=20_000)]


class PackedStep(BaseModel):
    """One step. Whoever does it is named by the short name; `child` is the sub-chat that worked on it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    description: Text
    check: Text
    specialist: Slug = ""
    domain: Slug = ""
    status: PlanStep.Status
    evidence: Text = ""
    call: Id = ""
    child: Id = ""


class PackedPlan(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    turn: int
    steps: Annotated[list[PackedStep], Field(max_length=100)]


_PLANS = TypeAdapter(list[PackedPlan])


def pack_plans(thread: Thread) -> list[dict[str, Any]]:
    """Every plan of the thread's turns, with its steps in their order."""
    plans = Plan.objects.filter(turn__thread=thread).order_by("turn")
    return [{"turn": plan.turn_id, "steps": [_pack(step) for step in _steps(plan)]} for plan in plans]


def _steps(plan: Plan) -> list[PlanStep]:
    return list(plan.steps.select_related("specialist", "domain", "delegation__child").order_by("index"))


def _pack(step: PlanStep) -> dict[str, Any]:
    return {
        "description": step.description,
        "check": step.check_text,
        "specialist": step.specialist.slug if step.specialist else "",
        "domain": step.domain.slug if step.domain else "",
        "status": step.status,
        "evidence": step.evidence,
        "call": str(step.call_id or ""),
        "child": step.delegation.child.chat_id if step.delegation else "",
    }


def unpack_plans(thread: Thread, data: Any, ids: Ids) -> None:
    """The plans of the thread's new turns; nobody has approved them here, and none of them goes on. Raises `IMPORT_BAD`."""
    try:
        packed = _PLANS.validate_python(data)
    except ValidationError:
        raise CodedError(code="IMPORT_BAD", field="file", message="Its plans can't be read.", fix="Export it again.") from None
    team = {each.slug: each for each in Assistant.objects.filter(tenant=thread.tenant_id)} if packed else {}
    domains = {each.slug: each for each in Domain.objects.filter(tenant=thread.tenant_id)} if packed else {}
    for each in packed:
        if ids.turns[each.turn].thread_id != thread.pk:
            raise ValueError("a plan of another conversation")
        plan = Plan.objects.create(turn=ids.turns[each.turn])
        for index, step in enumerate(each.steps, 1):
            PlanStep.objects.create(
                plan=plan,
                index=index,
                description=step.description.replace("\0", ""),
                check_text=step.check.replace("\0", ""),
                specialist=team.get(step.specialist),
                domain=domains.get(step.domain),
                # What was under way was left open: it goes on nowhere.
                status=PlanStep.Status.SKIPPED if step.status == PlanStep.Status.RUNNING else step.status,
                evidence=step.evidence.replace("\0", ""),
                call_id=ids.calls[step.call] if step.call else None,
                delegation=Delegation.objects.filter(child=ids.threads[step.child]).first() if step.child else None,
            )
        seal(plan)
