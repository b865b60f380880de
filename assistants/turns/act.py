"""The step that carries out the calls of the last reply, each on the one path `tools/invoke.py`."""

from django.db.models import F

from assistants import clock, telemetry
from assistants.errors import CodedError, LeaseLost, NotAllowed
from assistants.models import AuditEntry, ToolCall, Turn
from assistants.models.definition import definition_in
from assistants.models.prepared import Prepared, put
from assistants.tools.context import ToolContext
from assistants.tools.guard.calls import GuardBlocked
from assistants.tools.invoke import invoke
from assistants.tools.outcomes import Done, Held, Outcome, Pending, Refused
from assistants.tools.registry import Tool, find_tool
from assistants.units import unit

from . import approvals, events
from .calls import note_guard, repeat_limit, repeats, screened, settle_in
from .claims import Claim, holding
from .lifecycle import announce_thread, finish_turn
from .limits import bad_rounds_limit

_OPEN = Prepared(
    lambda turn: ToolCall.objects.filter(turn=turn, state=ToolCall.State.OPEN, needs_decision=False, pending=False)
)
_ACTING = Prepared(lambda pk: Turn.objects.filter(pk=pk).select_related("thread__tenant", "thread__owner", "thread__assistant"))

# A call's place among its siblings: a question comes alone, a hand-back after everything else (J-29, D30).
PLACES = {"alone": 0, "": 1, "last": 2}


def act(claim: Claim) -> None:
    """Runs every open call of the round that can run now, then moves the turn on: thinking, waiting or ended."""
    for call in _open_calls(claim):
        if _mark_cut_off(claim, call) or _waits(claim, call):
            continue
        outcome = _carry_out(claim, call)
        if _store(claim, call, outcome):
            return
    _move_on(claim)


@unit
def _open_calls(claim: Claim) -> list[ToolCall]:
    with holding(claim) as turn:
        calls = _OPEN.rows(turn.pk)
    return sorted((call for call in calls if not call.is_asked), key=lambda call: (PLACES[_ending(call)], call.index))


def _ending(call: ToolCall) -> str:
    tool = find_tool(call.name)
    return tool.ends_turn if tool else ""


@unit
def _mark_cut_off(claim: Claim, call: ToolCall) -> bool:
    """A call that was begun by a runner that died, and must not be repeated, waits for a person (D5, F06)."""
    if not call.attempts or call.effect != ToolCall.Effect.ONCE:
        return False
    with holding(claim) as turn:
        ToolCall.objects.filter(pk=call.pk).update(needs_decision=True)
        events.record(turn.thread_id, "call", call=str(call.pk))
        announce_thread(turn.thread)
    return True


@unit
def _waits(claim: Claim, call: ToolCall) -> bool:
    if _ending(call) != "last":
        return False
    with holding(claim) as turn:
        return approvals.waits_behind(turn, call)


def _carry_out(claim: Claim, call: ToolCall) -> Outcome:
    @unit
    def starting(tool: Tool) -> None:
        # What a tool changes here stands behind this in the log, so it can't outlive it; what it does elsewhere would.
        with holding(claim, synced=not tool.in_transaction) as turn:
            ToolCall.objects.filter(pk=call.pk).update(attempts=F("attempts") + 1, started=clock.now())
            approvals.use(call)
            if not tool.in_transaction:
                events.record(turn.thread_id, "call", call=str(call.pk))

    turn = _ACTING.first(claim.turn_id)
    if turn is None:
        raise LeaseLost(f"turn {claim.turn_id} was deleted")
    if repeats(turn, call.name, call.arguments) > repeat_limit():
        return Refused(_repeated(call))
    context = ToolContext(call=call, turn=turn, thread=turn.thread, definition=definition_in(turn.thread))
    with telemetry.timed("tool", turn=claim.turn_id, call=str(call.pk), name=call.name) as told:
        outcome = invoke(context, starting=starting)
        told.update(outcome=type(outcome).__name__.lower(), code=outcome.error.code if isinstance(outcome, Refused) else "")
    return outcome


def _repeated(call: ToolCall) -> CodedError:
    return CodedError(
        code="LIMIT_REPEATED_CALL",
        message=f"{call.name} was called with the same arguments more than {repeat_limit()} times.",
        fix="Use the results you have.",
        correctable=False,
    )


@unit
def _store(claim: Claim, call: ToolCall, outcome: Outcome) -> bool:
    """Settles the call as the outcome says. True when the turn is over with it."""
    # A large result takes a while to read: not while the turn's row, on SQLite every row, is locked.
    value = screened(call.name, outcome.value) if isinstance(outcome, Done) else None
    # A call that only waits has nothing to lose yet: what it waits for was stored by its tool.
    with holding(claim, synced=not isinstance(outcome, Pending)) as turn:
        match outcome:
            case Pending():
                call.pending = True
                put(call, "pending")
                events.record(turn.thread_id, "call", call=str(call.pk))
            case Held(why):
                approvals.ask(turn, call, why)
            case Refused(error):
                settle_in(
                    turn,
                    call.pk,
                    outcome=ToolCall.Outcome.REFUSED,
                    value=error.as_line(),
                    by="platform",
                    code=error.code,
                )
                if isinstance(error, GuardBlocked) and error.finding:
                    note_guard(turn, call.pk, "refused", error.finding)
                elif isinstance(error, NotAllowed):
                    _note_refusal(turn, call, error)
                if error.code == "LIMIT_REPEATED_CALL":
                    _end(turn, Turn.State.FAILED, reason="limit:repeat", note=error.message)
                    return True
            case Done(_, ends_turn):
                settle_in(turn, call.pk, outcome=ToolCall.Outcome.OK, value=value, by="tool")
                if ends_turn:
                    _end(turn, Turn.State.DONE, reason=ends_turn, note="")
                    return True
    return False


def _note_refusal(turn: Turn, call: ToolCall, error: NotAllowed) -> None:
    """An assistant tried what it has no right to: that is worth an admin's look (S25 to S27)."""
    AuditEntry.objects.create(
        tenant_id=turn.thread.tenant_id,
        user_id=turn.thread.owner_id,
        action="tool_refused",
        target=call.name,
        detail={"call": str(call.pk), "thread": turn.thread.chat_id, "code": error.code},
    )


def _end(turn: Turn, state: str, *, reason: str, note: str) -> None:
    """Ends the turn although calls may be open; those are dropped, each with a result (I8)."""
    for call in turn.calls.filter(state=ToolCall.State.OPEN):
        text = "Not carried out: the turn was over before its turn came."
        settle_in(turn, call.pk, outcome=ToolCall.Outcome.STOPPED, value=text, by="platform", code="DROPPED")
    finish_turn(turn, state=state, reason=reason, note=note)


@unit
def _move_on(claim: Claim) -> None:
    # The calls say by themselves how the turn stands; whoever takes it up after a power failure comes to the same.
    with holding(claim, synced=False) as turn:
        if limit := bad_rounds_limit(turn):
            _end(turn, Turn.State.FAILED, reason=limit[0], note=limit[1])
            return
        waits = turn.calls.filter(state=ToolCall.State.OPEN).exists()
        # What a person allowed while the other calls ran is taken up at once.
        asleep = Turn.State.ACTING if waits and approvals.ready_calls(turn) else Turn.State.WAITING
        turn.state = asleep if waits else Turn.State.THINKING
        turn.round += 0 if waits else 1
        turn.crashes = 0
        if turn.state == Turn.State.WAITING:
            # Nobody works on it until the last call is settled, so it needs no lease.
            turn.lease_until, turn.holder = None, ""
        put(turn, "state", "round", "crashes", "lease_until", "holder")
        events.record_turn(turn)
