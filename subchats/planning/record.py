"""Stores a plan's steps; a plan only ever grows, and each version has a hash (J-02, J-03, decision 5)."""

import hashlib
import json
from collections.abc import Sequence

from assistants.errors import CodedError, LeaseLost
from assistants.models import Assistant, Domain, ToolCall, Turn
from assistants.models.prepared import Prepared
from assistants.turns import events
from assistants.turns.claims import locked
from subchats.models import Plan, PlanStep

from .steps import MAX_STEPS, Step


def plan_of(turn: Turn) -> Plan | None:
    """The turn's plan; None as long as it has no steps, or when a person rejected them all (L2)."""
    return _PLANS.first(turn.pk)


def steps_of(plan: Plan) -> list[PlanStep]:
    """The steps in their order, each with its specialist and its domain."""
    return _STEPS.rows(plan.pk)


_PLANS = Prepared(
    lambda turn: Plan.objects.filter(turn=turn, steps__isnull=False).select_related("approved_by", "changed_by").distinct()
)
_STEPS = Prepared(
    lambda plan: (
        PlanStep.objects.filter(plan=plan).select_related("specialist", "domain", "delegation__child").order_by("index")
    )
)


def record_steps(call: ToolCall, steps: Sequence[Step], *, domain_id: int | None) -> Plan:
    """Makes the turn's plan out of checked steps, or appends those that are new to it; once for each call.

    Existing steps may be repeated, all of them, word for word and in front. Raises `PLAN_FIXED` when one is changed, left out
    or moved, `PLAN_TOO_LONG` above 12 steps; nothing is recorded then (J-03, J-09).
    """
    with locked(call.turn_id) as turn:
        if turn.is_final:
            raise LeaseLost(f"turn {turn.pk} ended while its plan was written")
        plan = Plan.objects.filter(turn=turn).first() or Plan(turn=turn, domain_id=domain_id, version=0)
        known = steps_of(plan) if plan.pk else []
        if any(step.call_id == call.pk for step in known):
            return plan
        if new := _new_steps(known, steps):
            plan.changed_by = None
            plan.version += 1
            plan.save()
            for index, step in enumerate(new, len(known) + 1):
                add_step(plan, index, step, call)
            seal(plan)
            events.record(turn.thread_id, "panel")
    return plan


def add_step(plan: Plan, index: int, step: Step, call: ToolCall | None) -> PlanStep:
    return PlanStep.objects.create(
        plan=plan,
        index=index,
        description=step.description,
        check_text=step.check,
        specialist=step.specialist,
        domain=step.domain,
        call=call,
    )


def seal(plan: Plan) -> None:
    """Gives the version that the plan has now its hash; a plan without steps has none, so that it can't be approved."""
    steps = [
        [step.index, step.description, step.check_text, step.specialist_id, step.domain_id]
        for step in PlanStep.objects.filter(plan=plan).order_by("index")
    ]
    text = json.dumps(steps, ensure_ascii=False)
    plan.hash = hashlib.sha256(text.encode()).hexdigest() if steps else ""
    plan.save(update_fields=["hash", "version", "changed_by"])


def carry_on(turn: Turn) -> None:
    """The turn that begins with the answer to a question goes on with the plan of the turn that asked."""
    before = turn.user_message.parent_id if turn.user_message else None
    asked = _ASKED_IN.first(before) if before else None
    if asked and asks(asked):
        Plan.objects.filter(turn=asked).update(turn=turn)


_ASKED_IN = Prepared(lambda message: Turn.objects.filter(messages__pk=message))


def asks(turn: Turn) -> bool:
    """Whether the turn ended with a question to the person, so that its work is not over (decision 7)."""
    return turn.ending == "asking"


def _new_steps(known: Sequence[PlanStep], steps: Sequence[Step]) -> list[Step]:
    said = [_key(step.description, step.check_text, step.specialist_id, step.domain_id) for step in known]
    sent = [_key(step.description, step.check, _id(step.specialist), _id(step.domain)) for step in steps]
    new = list(steps)
    if known and sent[: len(said)] == said:
        new = new[len(said) :]
    elif any(key in said for key in sent):
        raise _fixed("The steps that exist are not repeated all, word for word and in front.")
    elif named := next((step for step in known if any(key[0] == step.description.casefold() for key in sent)), None):
        raise _fixed(f"Step {named.index} exists already: “{named.description[:120]}”. It can't be changed.")
    if len(known) + len(new) > MAX_STEPS:
        raise CodedError(
            code="PLAN_TOO_LONG",
            field="steps",
            message=f"A plan has at most {MAX_STEPS} steps; {len(known)} exist. Nothing was recorded.",
            fix="Send fewer new steps.",
        )
    return new


def _id(row: Assistant | Domain | None) -> int | None:
    return row.pk if row else None


def _key(description: str, check: str, specialist: int | None, domain: int | None) -> tuple[str, str, int | None, int | None]:
    return description.casefold(), check.casefold(), specialist, domain


def _fixed(message: str) -> CodedError:
    return CodedError(
        code="PLAN_FIXED",
        field="steps",
        message=f"{message} A plan only grows; a step that turned out wrong is put right by a later one. Nothing was recorded.",
        fix="Send only the new steps, in other words than the existing ones.",
    )
