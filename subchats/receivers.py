"""Listens for turns that start and end, and keeps sub-chats and their callers in step (steps 3 and 9)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.dispatch import receiver

from assistants.conversations.unpacking import Ids
from assistants.models import Message, Tenant, Thread, ToolCall, Turn, User
from assistants.models.prepared import put
from assistants.signals import (
    demo_made,
    packing,
    person_leaving,
    sweeping,
    thread_forked,
    turn_finished,
    turn_interrupted,
    turn_started,
    unpacking,
)
from assistants.turns import events, taint
from subchats.delegation.deliver import SubChatResult, delegation_of, deliver, reconcile, stop_children
from subchats.delegation.packing import pack_delegations, unpack_delegations
from subchats.models import Delegation, ResearchSignal
from subchats.planning import record, statuses
from subchats.planning.packing import pack_plans, unpack_plans
from subchats.research.run import begin_run, end_run
from subchats.signals import delegated, delivered
from subchats.workflows.demo import add_demo_workflow
from subchats.workflows.records import copy_records


@receiver(turn_started)
def join_tree(turn: Turn, **kwargs: Any) -> None:
    """A sub-chat's turn belongs to its caller's tree as long as the caller still waits for it."""
    delegation = delegation_of(turn.thread)
    if delegation is None or delegation.call is None:
        return
    if delegation.returned_at or not delegation.call.is_open:
        _redraw_card(delegation.call)
        return
    root_id = delegation.call.turn.root_id or delegation.call.turn_id
    if turn.root_id != root_id:
        turn.root_id = root_id
        put(turn, "root")


@receiver(turn_finished)
def deliver_result(turn: Turn, **kwargs: Any) -> None:
    """In the transaction that ended the turn: the caller gets its result; what runs below is stopped after it."""
    delegation = delegation_of(turn.thread)
    if delegation and delegation.call:
        if delegation.returned_at or not delegation.call.is_open:
            _redraw_card(delegation.call)
        deliver(turn, delegation)
    transaction.on_commit(lambda: stop_children(turn))


def _redraw_card(call: ToolCall) -> None:
    """The card in the caller's thread shows that its sub-chat works again, or has ended again (D2)."""
    events.record(call.turn.thread_id, "call", call=str(call.pk))


@receiver(turn_interrupted)
def end_what_it_waits_for(turn: Turn, **kwargs: Any) -> set[UUID]:
    """Sub-chats of a turn that a person interrupts are stopped, and hand in what they have (D13, D14).

    Gives the calls that are settled by that: those whose sub-chats all work. One that waits for a person's answer has
    nothing to hand in, and goes on as a conversation of its own once it is answered.
    """
    out = Delegation.objects.filter(call__turn=turn, call__state=ToolCall.State.OPEN, returned_at=None)
    works = Turn.objects.active().values("thread")
    transaction.on_commit(lambda: stop_children(turn))
    asking = out.exclude(child__in=works).values("call")
    return set(out.exclude(call__in=asking).values_list("call", flat=True))


@receiver(delegated)
def taint_children(delegations: Sequence[Delegation], turn: Turn, **kwargs: Any) -> None:
    """The task and the facts come out of the caller's conversation, so what came into that came into this (D8)."""
    taint.flow(turn.thread_id, *(each.child_id for each in delegations))


@receiver(delivered)
def taint_caller(delegation: Delegation, turn: Turn, **kwargs: Any) -> None:
    """A report brings into the caller's conversation whatever came into the sub-chat's (D8)."""
    taint.flow(delegation.child_id, turn.thread_id)


@receiver(delivered)
def redraw_findings(delegation: Delegation, **kwargs: Any) -> None:
    """An explorer's own page shows what became of its findings, once they were looked up."""
    if delegation.kind == Delegation.Kind.EXPLORE:
        # Afterwards, since its conversation's row is locked after those of the turns.
        transaction.on_commit(lambda: _redraw_last_reply(delegation.child_id))


def _redraw_last_reply(thread_id: int) -> None:
    reply = Message.objects.filter(thread=thread_id, role=Message.Role.ASSISTANT).order_by("-sequence").first()
    if reply is not None:
        with transaction.atomic():
            events.record(thread_id, "message", message=str(reply.pk))


@receiver(turn_started)
def begin_research(turn: Turn, **kwargs: Any) -> None:
    begin_run(turn)


@receiver(turn_finished)
def end_research(turn: Turn, **kwargs: Any) -> None:
    end_run(turn)


@receiver(turn_started)
def carry_plan_on(turn: Turn, **kwargs: Any) -> None:
    record.carry_on(turn)


@receiver(turn_finished)
def close_plan(turn: Turn, **kwargs: Any) -> None:
    statuses.close_steps(turn)


@receiver(delegated)
def begin_steps(delegations: Sequence[Delegation], turn: Turn, **kwargs: Any) -> None:
    statuses.begin_steps(delegations, turn)


@receiver(delivered)
def end_step(delegation: Delegation, result: SubChatResult, turn: Turn, **kwargs: Any) -> None:
    statuses.end_step(delegation, result, turn)


@receiver(thread_forked)
def copy_what_was_said(source: Thread, fork: Thread, until: datetime, **kwargs: Any) -> None:
    copy_records(source, fork, until=until)


@receiver(demo_made)
def show_workflow(tenant: Tenant, language: str, **kwargs: Any) -> None:
    add_demo_workflow(tenant, language)


@receiver(sweeping)
def put_right(**kwargs: Any) -> None:
    reconcile()


@receiver(packing)
def pack_what_joins(thread: Thread, data: dict[str, Any], **kwargs: Any) -> None:
    data["delegations"] = pack_delegations(thread)
    data["plans"] = pack_plans(thread)


@receiver(unpacking)
def join_again(thread: Thread, data: dict[str, Any], ids: Ids, **kwargs: Any) -> None:
    unpack_delegations(thread, data.get("delegations", []), ids)
    unpack_plans(thread, data.get("plans", []), ids)


@receiver(person_leaving)
def forget_their_word(user: User, **kwargs: Any) -> None:
    """What they said of a result has taught the team; single signals are theirs, sums over many are nobody's (A-38)."""
    ResearchSignal.objects.filter(result__run__turn__thread__root__owner=user).delete()
    ResearchSignal.objects.filter(result__run__turn__thread__owner=user).delete()
