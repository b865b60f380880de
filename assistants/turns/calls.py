"""A tool call is settled once, by anybody; the last one settled wakes the turn."""

from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F

from assistants import clock
from assistants.errors import CodedError
from assistants.failpoints import failpoint
from assistants.models import AuditEntry, Message, Thread, ToolCall, Turn
from assistants.models.counters import take_message_number
from assistants.models.prepared import Prepared, insert, put
from assistants.tools.guard.results import Screened, screen_result
from assistants.tools.guard.search import Finding
from assistants.tools.invoke import as_text
from assistants.units import unit

from . import events, executors, taint
from .claims import locked

QUESTION_TOOL = "ask_clarifying_question"
_QUESTIONS = Prepared(
    lambda thread: ToolCall.objects.filter(
        name=QUESTION_TOOL,
        outcome=ToolCall.Outcome.OK,
        answer__isnull=True,
        turn__thread=thread,
        message=F("turn__thread__leaf"),
    )
)
_NAMED = Prepared(lambda turn, name: ToolCall.objects.filter(turn=turn, name=name).values_list("arguments", flat=True))
_OPEN = Prepared(lambda pk: ToolCall.objects.filter(pk=pk, state=ToolCall.State.OPEN))
_STILL_OPEN = Prepared(lambda turn: ToolCall.objects.filter(turn=turn, state=ToolCall.State.OPEN).values_list("pk")[:1])


@unit
def settle_call(
    call: ToolCall,
    *,
    outcome: str,
    value: object,
    by: str,
    code: str = "",
) -> bool:
    """Stores the call's result, and wakes its turn if it was the last open one. False if it was settled before.

    Locks the turn first: two siblings that settle at once would otherwise both leave it asleep.
    """
    value = screened(call.name, value)
    with locked(call.turn_id) as turn:
        if not settle_in(turn, call.pk, outcome=outcome, value=value, by=by, code=code):
            return False
        wake_if_settled(turn)
    return True


def settle_in(turn: Turn, call_id: UUID | str, *, outcome: str, value: object, by: str, code: str = "") -> bool:
    """The same inside a transaction that has locked the turn, without waking it.

    The value is screened here unless it is already: nothing reaches a model that the guard has not read (decision 11).
    """
    seen = value if isinstance(value, Screened) else screened(_name_of(call_id), value)
    changed = _OPEN.update(
        UUID(str(call_id)),
        state=ToolCall.State.SETTLED,
        outcome=outcome,
        result=seen.shown,
        withheld=seen.withheld,
        code=code,
        settled=clock.now(),
        settled_by=by,
        needs_decision=False,
    )
    if not changed:
        return False
    if outcome == ToolCall.Outcome.OK:
        taint.mark(turn.thread_id, call_id)
    if seen.finding:
        note_guard(turn, call_id, seen.action, seen.finding)
    add_message(
        turn.thread_id,
        role=Message.Role.TOOL,
        turn=turn,
        round=turn.round,
        parts=[{"type": "tool_result", "call": str(call_id)}],
    )
    guard = {"guard": seen.action} if seen.finding else {}
    events.record(turn.thread_id, "call", call=str(call_id), **guard)
    transaction.on_commit(lambda: failpoint("tool.result_committed"))
    return True


def screened(name: str, value: object) -> Screened:
    """A tool's value as the text that is stored, read by the guard; best done before a row is locked."""
    return value if isinstance(value, Screened) else screen_result(name, as_text(value))


def note_guard(turn: Turn, call_id: UUID | str, action: str, finding: Finding) -> None:
    """Marks the call for its card, and tells the admin what was found; the audit says nothing of the words themselves."""
    call = ToolCall.objects.get(pk=call_id)
    call.guard = {"action": action, **finding.as_dict()}
    put(call, "guard")
    found = {name: text for name, text in finding.as_dict().items() if name != "excerpt"}
    AuditEntry.objects.create(
        tenant_id=turn.thread.tenant_id,
        user_id=turn.thread.owner_id,
        action=f"guard_{action}",
        target=call.name,
        detail={"call": str(call.pk), "thread": turn.thread.chat_id, **found},
    )


def _name_of(call_id: UUID | str) -> str:
    return ToolCall.objects.filter(pk=call_id).values_list("name", flat=True).first() or ""


def wake_if_settled(turn: Turn) -> None:
    """Moves a waiting turn on to its next model call once nothing is open; the turn must be locked."""
    if turn.state != Turn.State.WAITING or _STILL_OPEN.exists(turn.pk):
        return
    turn.state, turn.beat = Turn.State.THINKING, clock.now()
    turn.round += 1
    put(turn, "state", "round", "beat")
    events.record_turn(turn)
    transaction.on_commit(lambda: executors.enqueue(turn.pk), robust=True)


def add_message(thread_id: int, **fields: object) -> Message:
    """Appends a message with the thread's next sequence number; must run inside a transaction."""
    return insert(Message(thread_id=thread_id, sequence=next_sequence(thread_id), **fields))


def next_sequence(thread_id: int) -> int:
    """Takes the thread's next message number, under its row's lock."""
    return take_message_number(thread_id)


def decide_call(call: ToolCall, *, happened: bool, by: str) -> bool:
    """A person says how a `once` call that was cut off ended (F06). Raises `NOTHING_TO_DECIDE`."""
    if not call.needs_decision:
        raise CodedError(code="NOTHING_TO_DECIDE", message="This call needs no decision.", correctable=False)
    text = (
        "The call was cut off by a crash. A person checked: it was carried out. Its result is not known."
        if happened
        else "The call was cut off by a crash. A person checked: it was not carried out. You may call it again."
    )
    return settle_call(call, outcome=ToolCall.Outcome.UNKNOWN, value=text, by=by, code="OUTCOME_UNKNOWN")


def open_question(thread: Thread) -> ToolCall | None:
    """The question that stands at the end of the shown branch without an answer.

    Once the conversation has gone on, or goes on from another place, a question waits for nobody any more.
    """
    return _QUESTIONS.first(thread.pk)


def repeats(turn: Turn, name: str, arguments: object) -> int:
    """How often this turn has already made the same call with the same arguments (F26)."""
    return _NAMED.rows(turn.pk, name).count(arguments)


def repeat_limit() -> int:
    return int(settings.TASKMONKEY["MAX_REPEATED_CALLS"])
