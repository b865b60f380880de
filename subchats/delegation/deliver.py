"""Brings a finished sub-chat's result to the call that opened it, in the same transaction; exactly once."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from django.db import transaction
from django.db.models import Max

from assistants import clock
from assistants.failpoints import failpoint
from assistants.models import Message, Thread, ToolCall, Turn
from assistants.models.prepared import Prepared, put
from assistants.models.turn import PARENT_ENDED
from assistants.turns import events
from assistants.turns.calls import screened, settle_in, wake_if_settled
from assistants.turns.claims import locked
from assistants.turns.lifecycle import announce_thread, start_next, stop_turn
from assistants.turns.questions import withdraw_question
from assistants.units import unit
from subchats.models import Delegation
from subchats.signals import delivered

from .fan_out import Together, put_together
from .hand_backs import hand_back_error

# What a caller is told of a sub-chat that was cut off (decision 9).
CUT_OFF = {"limit:idle": "IDLE_TIMEOUT", "limit:wall": "WALL_TIMEOUT", "limit:budget": "BUDGET_OVERRUN"}

# By whom a sub-chat is stopped with its caller.
ABOVE = "the chat above"


@dataclass(frozen=True)
class SubChatResult:
    """The six fields that a caller learns, and nothing else (T-07, T-15)."""

    success: bool
    sub_chat_id: str
    reply: str
    tools_used: list[str]
    iterations: int
    error: str | None


_OPENED = Prepared(lambda child: Delegation.objects.filter(child=child).select_related("call__turn", "child"))
_GOING = Prepared(lambda thread: Turn.objects.active().filter(thread=thread))
_UNHEARD = Prepared(lambda turn: Delegation.objects.filter(call__turn=turn, returned_at=None).select_related("call"))
# Locked first: a child that ends has its own turn before its caller's.
_LAST = Prepared(
    lambda thread: (
        Turn.objects.select_for_update(of=("self",), no_key=True)
        .filter(thread=thread)
        .exclude(state=Turn.State.QUEUED)
        .select_related("thread")
        .order_by("-pk")[:1]
    )
)
_OUT = Prepared(lambda call: Delegation.objects.filter(call=call, returned_at=None).values_list("pk")[:1])
_PARTS = Prepared(lambda call: Delegation.objects.filter(call=call))
_MODEL_CALLS = Prepared(lambda thread: Turn.objects.filter(thread=thread).values_list("model_calls", flat=True))
_TOOLS_USED = Prepared(
    lambda thread: (
        ToolCall.objects.filter(turn__thread=thread, outcome=ToolCall.Outcome.OK)
        .order_by("turn_id", "round", "index")
        .values_list("name", flat=True)
    )
)
_REPLIES = Prepared(lambda turn: Message.objects.filter(turn=turn, role=Message.Role.ASSISTANT).order_by("-round"))
_readers: dict[str, Callable[[Delegation, SubChatResult], SubChatResult]] = {}


def read_reports(kind: str, reader: Callable[[Delegation, SubChatResult], SubChatResult]) -> None:
    """Has the reports of one kind of sub-chat read, and put into another form, before their caller learns them."""
    _readers[kind] = reader


def delegation_of(thread: Thread) -> Delegation | None:
    """The delegation that opened a sub-chat; of a conversation at the top none, without asking for it."""
    return _OPENED.first(thread.pk) if thread.parent_id else None


def deliver(turn: Turn, delegation: Delegation) -> None:
    """Hands in what this finished turn of a sub-chat reports; the last report of a call settles it, with all of them.

    `delegation` is the sub-chat's. A turn that ended with a question to the person reports nothing yet (decision 7). Inside
    the transaction that finished the turn.
    """
    if delegation.returned_at or delegation.call is None or _asks(turn):
        return
    result = result_of(turn, delegation)
    if read := _readers.get(delegation.kind):
        result = read(delegation, result)
    alone = None if delegation.label else _alone(delegation.call, turn, result)
    # The caller's turn is locked before it is asked who is still out: of two siblings that end at the same moment the
    # second sees the first one's report.
    with locked(delegation.call.turn_id) as above:
        # What its caller went on without, it can be sent later.
        delegation.returned_at, delegation.report = delegation.call.settled or clock.now(), asdict(result)
        mine = Delegation.objects.filter(pk=delegation.pk, returned_at=None)
        if not mine.update(returned_at=delegation.returned_at, report=delegation.report):
            return
        delivered.send(Delegation, delegation=delegation, result=result, turn=above)
        _settle(delegation.call, above, alone, by=turn.thread.chat_id)
    transaction.on_commit(lambda: failpoint("child.finished"))


def _alone(call: ToolCall, turn: Turn, result: SubChatResult) -> Together:
    """What settles the call of a single sub-chat; read by the guard before the caller is locked."""
    return Together(
        value=screened(call.name, json.dumps(asdict(result), ensure_ascii=False)),
        outcome=ToolCall.Outcome.OK if result.success else ToolCall.Outcome.ERROR,
        code="" if result.success else turn.reason,
    )


def _settle(call: ToolCall, above: Turn, alone: Together | None, *, by: str) -> None:
    if alone is None and _OUT.exists(call.pk):
        # Its siblings are at work. No event: pages look at open cards whenever something below them has changed.
        return
    all_in = alone or put_together(_PARTS.rows(call.pk))
    if settle_in(above, call.pk, outcome=all_in.outcome, value=all_in.value, by=by, code=all_in.code):
        wake_if_settled(above)


def result_of(turn: Turn, delegation: Delegation) -> SubChatResult:
    """What the sub-chat has to report after this turn."""
    return SubChatResult(
        success=turn.state == Turn.State.DONE and not delegation.hand_back,
        sub_chat_id=turn.thread.chat_id,
        reply=final_text(turn),
        tools_used=list(dict.fromkeys(_TOOLS_USED.rows(turn.thread_id))),
        iterations=sum(_MODEL_CALLS.rows(turn.thread_id)),
        error=_error_of(turn, delegation),
    )


def final_text(turn: Turn) -> str:
    """The text of the turn's last reply that has any; of a cut-off turn what was written until then (decision 9)."""
    return next((reply.text for reply in _REPLIES.rows(turn.pk) if reply.text), "")


def _asks(turn: Turn) -> bool:
    return turn.ending == "asking"


def _error_of(turn: Turn, delegation: Delegation) -> str | None:
    if delegation.hand_back:
        return hand_back_error(delegation)
    if turn.state == Turn.State.DONE:
        return None
    seconds = int((clock.now() - (turn.started or turn.created)).total_seconds())
    done = turn.calls.filter(outcome=ToolCall.Outcome.OK).count()
    code = "STOPPED" if turn.state == Turn.State.STOPPED else (turn.reason or "FAILED").upper().replace(":", "_")
    code = CUT_OFF.get(turn.reason, code)
    return (
        f"[{code}] field=- fix=Use the partial reply or go another way.\n"
        f"{turn.note or 'The sub-chat did not finish.'} It ran {seconds} s, with {turn.round + 1} steps and {done} tool"
        " calls done. The reply holds what was written until then and is likely incomplete."
    )


def stop_children(turn: Turn) -> None:
    """Stops what still runs below a turn that has ended or goes another way (T7, F08, I9), and lets go of what asks a person
    there; each child in a transaction of its own."""
    for delegation in _UNHEARD.rows(turn.pk):
        if going := _GOING.first(delegation.child_id):
            stop_turn(going.pk, by=ABOVE, reason=PARENT_ENDED)
        elif delegation.call and not delegation.call.is_open:
            _close_unheard(delegation)


@unit
def _close_unheard(delegation: Delegation) -> None:
    """Of a sub-chat that waits for a person's answer, its caller has learned nothing and by itself never will: the call was
    settled over its head. Once the caller's turn has ended, it asks for nobody either, and counts as stopped."""
    with transaction.atomic():
        turn = _LAST.first(delegation.child_id)
        if turn is None or not _asks(turn):
            return
        assert delegation.call is not None
        with locked(delegation.call.turn_id) as above:
            result = replace(result_of(turn, delegation), success=False, error="Its caller went on before it had reported.")
            settled = {"returned_at": delegation.call.settled, "report": asdict(result)}
            if not Delegation.objects.filter(pk=delegation.pk, returned_at=None).update(**settled):
                return
            delivered.send(Delegation, delegation=delegation, result=result, turn=above)
            events.record(above.thread_id, "call", call=str(delegation.call.pk))
        if above.is_final:
            withdraw_question(turn.thread)
            turn.reason, turn.note = PARENT_ENDED, f"Stopped by {ABOVE}."
            put(turn, "reason", "note")
        events.record_turn(turn)
        announce_thread(turn.thread)
        start_next(turn.thread)


def reconcile() -> None:
    """Puts right what a crash left undone: finished children not delivered, running children of ended parents."""
    waiting = Delegation.objects.filter(returned_at=None, call__state=ToolCall.State.OPEN)
    newest = waiting.annotate(last=Max("child__turns")).values_list("last", flat=True)
    for turn in Turn.objects.filter(pk__in=list(newest), state__in=Turn.FINAL).select_related("thread"):
        with transaction.atomic():
            if delegation := delegation_of(turn.thread):
                deliver(turn, delegation)
    orphans = Turn.objects.active().filter(
        thread__delegation__returned_at=None, thread__delegation__call__turn__state__in=Turn.FINAL
    )
    for orphan in orphans.filter(root__isnull=False):
        stop_turn(orphan.pk, by=ABOVE, reason=PARENT_ENDED)
    for unheard in Delegation.objects.filter(returned_at=None, call__state=ToolCall.State.SETTLED).select_related("call"):
        _close_unheard(unheard)
