"""A person's word on a plan: this very version is approved, changed or rejected, once (decision 5, L1, L2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from assistants import access, clock
from assistants.errors import CodedError
from assistants.llm.plain_text import clean_text
from assistants.models import ToolCall, Turn, User
from assistants.models.definition import definition_of
from assistants.tools.guard.results import Screened
from assistants.tools.invoke import as_text
from assistants.turns import approvals, events
from assistants.turns.calls import settle_in
from assistants.turns.claims import locked
from subchats.models import Plan, PlanStep

from .record import add_step, plan_of, seal
from .steps import MAX_STEPS, Draft, check_steps
from .telling import as_data

PLAN_TOOL = "write_plan"
# Why a person is asked, beside the reasons for which any tool may be held.
WHY = "plan"
MAX_WORDS = 4000


@dataclass(frozen=True)
class Decision:
    """Who decides, by account and by name, and the hash of the version that they had before their eyes."""

    by: User | None
    name: str
    shown: str


def ask(call: ToolCall) -> None:
    """Puts the plan that this call wrote before a person; the call stays open until one decides. Asked once."""
    with locked(call.turn_id) as turn:
        current = ToolCall.objects.get(pk=call.pk)
        if current.is_open and not current.is_asked:
            approvals.ask(turn, current, [WHY])


def approve(call: ToolCall, decision: Decision) -> None:
    """Lets the version that was shown release its steps; whoever says so twice does no harm.

    Raises `NOT_A_PLAN`, `PLAN_DECIDED`, `PLAN_CHANGED`.
    """
    with locked(call.turn_id) as turn:
        plan = _plan_for(turn, call)
        if plan.is_approved and decision.shown == plan.hash:
            return
        _check_shown(plan, turn, decision)
        _approve(plan, turn, decision)


def reject(call: ToolCall, decision: Decision, *, words: str) -> None:
    """Takes out what was not approved before; the model reads the person's words and may plan anew (L2).

    Raises what `approve` raises, and `WORDS_TOO_LONG`. Twice is harmless.
    """
    words = clean_text(words).strip()
    if len(words) > MAX_WORDS:
        raise CodedError(
            code="WORDS_TOO_LONG", field="words", message=f"These are more than {MAX_WORDS} characters.", fix="Shorten them."
        )
    with locked(call.turn_id) as turn:
        if ToolCall.objects.filter(pk=call.pk, code="PLAN_REJECTED").exists():
            return
        plan = _plan_for(turn, call)
        _check_shown(plan, turn, decision)
        _unapproved(plan).delete()
        plan.version += 1
        plan.changed_by = decision.by
        seal(plan)
        said = f" Their words: “{words}”" if words else ""
        error = CodedError(
            code="PLAN_REJECTED",
            field="steps",
            message=f"{decision.name} has read these steps and rejected them; they are no part of the plan.{said}",
            fix="Write other steps with write_plan that do what they say, or go on without handing anything over.",
        )
        _settle(turn, decision, state="rejected", outcome=ToolCall.Outcome.REFUSED, value=error.as_line(), code=error.code,
                words=words)  # fmt: skip


def change(call: ToolCall, decision: Decision, drafts: Sequence[Draft], *, approved: bool) -> None:
    """Puts a person's steps in the place of those that wait for approval: a new version with a new hash, which is approved at
    once only if they say so. The steps keep the same rules as a model's.

    Raises what `approve` and `check_steps` raise, `PLAN_TOO_LONG`, and `PLAN_EMPTY` when no step is left.
    """
    thread = call.turn.thread
    steps = check_steps(drafts, thread=thread, definition=definition_of(thread))
    with locked(call.turn_id) as turn:
        plan = _plan_for(turn, call)
        _check_shown(plan, turn, decision)
        _check_number(plan, len(steps))
        former = plan.hash
        _unapproved(plan).delete()
        for index, step in enumerate(steps, plan.approved_steps + 1):
            add_step(plan, index, step, call)
        seal(plan)
        if plan.hash != former:
            plan.version += 1
            plan.changed_by = decision.by
            plan.save(update_fields=["version", "changed_by"])
        if approved:
            _approve(plan, turn, decision)
        else:
            _tell_pages(turn)


def is_waiting(call: ToolCall) -> bool:
    """Whether this call waits for a person's word on the plan that it wrote."""
    return call.name == PLAN_TOOL and call.is_open and WHY in (call.approval or {}).get("why", ())


def waiting_steps(plan: Plan) -> list[PlanStep]:
    """The steps that a person is asked about."""
    return list(_unapproved(plan).select_related("specialist", "domain").order_by("index"))


def _unapproved(plan: Plan) -> QuerySet[PlanStep]:
    return PlanStep.objects.filter(plan=plan, index__gt=plan.approved_steps)


def _plan_for(turn: Turn, call: ToolCall) -> Plan:
    if call.name != PLAN_TOOL:
        raise CodedError(code="NOT_A_PLAN", message="This is not a plan.", correctable=False)
    plan = plan_of(turn)
    if plan is None:
        raise _decided()
    return plan


def _check_shown(plan: Plan, turn: Turn, decision: Decision) -> None:
    if plan.is_approved or not turn.is_active or not _asked(turn):
        raise _decided()
    if decision.shown != plan.hash:
        raise CodedError(
            code="PLAN_CHANGED",
            field="hash",
            message="The plan is not the one any more that you have before your eyes.",
            fix="Reload, read it again, and decide then.",
        )


def _check_number(plan: Plan, number: int) -> None:
    if not number:
        raise CodedError(
            code="PLAN_EMPTY", field="description", message="No step is left.", fix="Keep a step, or reject the plan."
        )
    if plan.approved_steps + number > MAX_STEPS:
        raise CodedError(
            code="PLAN_TOO_LONG",
            field="description",
            message=f"A plan has at most {MAX_STEPS} steps.",
            fix="Take some out.",
        )


def _decided() -> CodedError:
    return CodedError(
        code="PLAN_DECIDED",
        message="This plan does not wait for an approval any more.",
        fix="Reload to see what became of it.",
        correctable=False,
    )


def _asked(turn: Turn) -> list[ToolCall]:
    """The calls that wait for the same word: two that came in one reply wrote one plan together (D31)."""
    return [call for call in turn.calls.filter(name=PLAN_TOOL, state=ToolCall.State.OPEN) if is_waiting(call)]


def _approve(plan: Plan, turn: Turn, decision: Decision) -> None:
    plan.approved_hash = plan.hash
    plan.approved_steps = plan.steps.count()
    plan.approved_by = decision.by
    plan.approved_at = clock.now()
    plan.save(update_fields=["approved_hash", "approved_steps", "approved_by", "approved_at"])
    told = {"approved_by": decision.name, **as_data(plan)}
    if plan.changed_by_id:
        told["note"] = f"{decision.name} changed the steps. Work with them as they stand here."
    _settle(turn, decision, state="approved", outcome=ToolCall.Outcome.OK, value=told)


def _settle(
    turn: Turn, decision: Decision, *, state: str, outcome: str, value: object, code: str = "", words: str = ""
) -> None:
    """Answers every call that waits, so that the turn goes on."""
    # What a person wrote is theirs and no tool's result; the rest was read by the guard when it came in.
    shown = Screened(as_text(value))
    for call in _asked(turn):
        decided = {**(call.approval or {}), "state": state, "by": decision.name, "decided": clock.now().isoformat()}
        ToolCall.objects.filter(pk=call.pk).update(approval=decided | ({"words": words} if words else {}))
        settle_in(turn, call.pk, outcome=outcome, value=shown, by=decision.name, code=code)
    access.audit(
        f"plan_{state}",
        tenant_id=turn.thread.tenant_id,
        user=decision.by,
        target=f"turn {turn.pk}",
        thread=turn.thread.chat_id,
        hash=decision.shown,
    )
    _tell_pages(turn)
    approvals.carry_on(turn)


def _tell_pages(turn: Turn) -> None:
    for call in _asked(turn):
        events.record(turn.thread_id, "call", call=str(call.pk))
    events.record(turn.thread_id, "panel")
