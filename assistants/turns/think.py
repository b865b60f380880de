"""The step that asks the model and stores its reply with the calls it wants."""

import random
from concurrent.futures import CancelledError

from django.conf import settings

from assistants import clock, telemetry
from assistants.desk import desk
from assistants.errors import CodedError, LeaseLost
from assistants.failpoints import failpoint
from assistants.llm.ask import ask
from assistants.llm.reply import ModelError, Reply, RequestedCall
from assistants.models import Message, ToolCall, Turn
from assistants.models.definition import definition_in
from assistants.models.prepared import put
from assistants.tools.arguments import parse_arguments
from assistants.tools.registry import find_tool
from assistants.units import let_go, unit

from . import budget, conditions, events, executors, live, partial
from .allowance import OVERRUN, Allowed, Meter, allow, run_out
from .calls import add_message
from .claims import Claim, holding
from .lifecycle import close_reply, finish_turn, pause_turn, reply_parts
from .limits import step_limit, switched_off
from .prompt import read_talk
from .steering import goes_on, take_in
from .threads import extend_branch

MAX_MODEL_FAILURES = 3
SAVE_SECONDS = 1.0
CUT = "The reply was cut at its length limit."


def think(claim: Claim) -> None:
    """Asks the model for the turn's next reply and stores it with its calls in one transaction.

    Raises `LeaseLost` when somebody else ended or took the turn meanwhile.
    """
    try:
        # What was begun is answered before more is begun.
        with desk.place(first=True):
            opened = _open_reply(claim)
    except CodedError as error:
        # A set-up that can't work, such as a key that can't be read: a sentence for the person, not a crash.
        with holding(claim) as turn:
            finish_turn(turn, state=Turn.State.FAILED, reason=error.code, note=error.told)
        return
    if opened is None:
        return
    allowed, message, shown = opened
    root_id = message.thread.root_id_or_own
    growing = live.begin(message.thread_id, root_id, message.pk, message.sequence, shown=shown)
    try:
        try:
            reply = _ask(claim, allowed, growing)
        except ModelError as error:
            cut = error.code == OVERRUN
            _cut_short(claim, allowed, growing) if cut else _give_up_attempt(claim, allowed, message, growing, error)
        else:
            with desk.place():
                _save_reply(claim, allowed, message, reply)
    finally:
        live.end(growing)


@unit
def _open_reply(claim: Claim) -> tuple[Allowed, Message, bool] | None:
    """Creates the reply's row, or takes the one that a dead runner left: a new attempt replaces its text (P6).

    Returns what is asked within the budget (P15), the reply, and whether it is new at the end of the branch that pages show.
    """
    with holding(claim, "thread__assistant", "thread__tenant", synced=False) as turn:
        definition = definition_in(turn.thread)
        if limit := switched_off(definition) or step_limit(turn, definition.max_steps) or conditions.unmet(turn, definition):
            finish_turn(turn, state=Turn.State.FAILED, reason=limit[0], note=limit[1])
            return None
        talk = read_talk(turn.thread)
        message, shown = talk.reply_of(turn), False
        if message is None and take_in(turn):
            talk = read_talk(turn.thread)
        allowed = allow(turn, definition, talk)
        if allowed is None:
            return None
        if message is None:
            message = add_message(
                turn.thread_id,
                role=Message.Role.ASSISTANT,
                turn=turn,
                round=turn.round,
                state=Message.State.STREAMING,
                parent=talk.leaf_of(turn),
            )
            shown = extend_branch(message)
        else:
            message.state = Message.State.STREAMING
            put(message, "state")
        message.thread = turn.thread
        profile = allowed.prompt.profile
        turn.profile_label, turn.beat = profile.label or profile.model, clock.now()
        put(turn, "profile_label", "beat")
        if turn.reason:
            # It rested, and pages still show why.
            events.record_turn(turn)
        events.record(turn.thread_id, "message", message=str(message.pk))
    return allowed, message, shown


def _ask(claim: Claim, allowed: Allowed, growing: live.LiveReply) -> Reply:
    profile = allowed.prompt.profile
    with telemetry.timed("chat", turn=claim.turn_id, provider=profile.provider, model=profile.model) as told:
        try:
            reply = _stream(claim, allowed, growing)
        finally:
            told["first"] = growing.first_at
        told.update(input_tokens=reply.input_tokens, output_tokens=reply.output_tokens, finish=reply.finish)
    return reply


def _stream(claim: Claim, allowed: Allowed, growing: live.LiveReply) -> Reply:
    prompt, sink = allowed.prompt, Meter(growing, allowed.permit)
    future = ask(prompt.profile, prompt.messages, prompt.tools, sink)
    executors.carry(claim.turn_id, future)
    growth = partial.begin(claim, growing, future)
    try:
        while True:
            let_go()
            try:
                return future.result(timeout=SAVE_SECONDS)
            except TimeoutError:
                # One that has ended since then is asked again: only a time-out of its own is a fault.
                if not future.done():
                    _save_partial(growth)
                elif not future.cancelled() and isinstance(future.exception(), TimeoutError):
                    raise
            except CancelledError:
                raise LeaseLost(f"turn {claim.turn_id}: its model call was cancelled") from None
    finally:
        partial.end(growth)
        future.cancel()
        executors.drop(claim.turn_id, future)


def _save_partial(growth: partial.Growth) -> None:
    """Stores the text so far, so that a reload shows it even from another process; at most once a second."""
    # Whoever comes first saves for everybody, also for those who would come within half a second.
    partial.save(older_than=SAVE_SECONDS / 2)
    if growth.lost:
        raise LeaseLost(f"turn {growth.claim.turn_id} is no longer held with fence {growth.claim.fence}")


@unit
def _cut_short(claim: Claim, allowed: Allowed, growing: live.LiveReply) -> None:
    """Keeps what was written until the tokens ran out (J-19). What the provider counted is not known: all that was reserved,
    or what was seen if that is more, is taken for used."""
    with holding(claim) as turn:
        written = (len(growing.text) + len(growing.reasoning_text)) // 4
        _charge(turn, allowed, max(allowed.asked, allowed.permit.reserved - written), written)
        close_reply(turn, Message.State.INTERRUPTED)
        run_out(turn)


@unit
def _give_up_attempt(claim: Claim, allowed: Allowed, message: Message, growing: live.LiveReply, error: ModelError) -> None:
    """Pauses the turn until the provider may answer again, or ends it with a plain sentence (F17, F18, R6, R7)."""
    with holding(claim) as turn:
        parts = reply_parts(growing.text or error.partial, growing.reasoning_text)
        if parts:
            message.parts = parts
            put(message, "parts")
        received = len(growing.text) // 4
        _charge(turn, allowed, allowed.asked if received else 0, received)
        turn.failures += 1
        if error.retryable and turn.failures < MAX_MODEL_FAILURES + 1:
            delay = error.retry_after if error.retry_after is not None else 2 ** (turn.failures - 1) + random.random()
            pause_turn(turn, reason=error.code, note=error.message, seconds=delay)
            close_reply(turn, Message.State.INTERRUPTED)
        else:
            close_reply(turn, Message.State.FAILED)
            finish_turn(turn, state=Turn.State.FAILED, reason=error.code, note=error.message)


@unit
def _save_reply(claim: Claim, allowed: Allowed, message: Message, reply: Reply) -> None:
    with holding(claim, "thread__assistant") as turn:
        message.parts = reply_parts(reply.text, reply.reasoning)
        message.state = Message.State.COMPLETE
        put(message, "parts", "state")
        _charge(turn, allowed, reply.input_tokens, reply.output_tokens)
        turn.crashes, turn.beat = 0, clock.now()
        if not reply.calls and not reply.text.strip():
            _end_empty(turn, message, reply)
            return
        turn.failures = 0
        turn.reason = turn.note = ""
        if reply.finish == "length" and not reply.calls and allowed.permit.clamped and not allowed.permit.last_word:
            # The provider kept to what was left of the budget.
            message.state = Message.State.INTERRUPTED
            put(message, "state")
            events.record(turn.thread_id, "message", message=str(message.pk))
            run_out(turn)
            return
        events.record(turn.thread_id, "message", message=str(message.pk))
        if reply.calls:
            _open_calls(turn, message, reply.calls)
            turn.state = Turn.State.ACTING
            put(turn)
            events.record_turn(turn)
        else:
            _end_or_go_on(turn, reply)
    failpoint("step.committed")


def _end_or_go_on(turn: Turn, reply: Reply) -> None:
    """A reply without calls is the turn's last, unless a message waits for it or something is still asked of it."""
    missing = conditions.unfinished(turn, reply.text)
    if goes_on(turn) or (missing and conditions.may_remind(turn)):
        turn.state, turn.round = Turn.State.THINKING, turn.round + 1
        put(turn)
    elif missing and missing.fatal:
        finish_turn(turn, state=Turn.State.FAILED, reason=missing.code, note=missing.note)
    else:
        cut = reply.finish == "length"
        finish_turn(turn, state=Turn.State.DONE, reason="length" if cut else "", note=CUT if cut else "")


def _end_empty(turn: Turn, message: Message, reply: Reply) -> None:
    """An empty reply is never a success: asked again twice, then a visible end with a retry (R1, R2, F26)."""
    turn.failures += 1
    if turn.failures < MAX_MODEL_FAILURES:
        pause_turn(turn, reason="MODEL_EMPTY", note="The model sent an empty reply; asking once more.", seconds=0)
        return
    note = (
        "The model answered with nothing, three times."
        if not reply.reasoning
        else ("The model only thought and wrote no answer. Its thoughts are kept.")
    )
    message.state = Message.State.FAILED
    put(message, "state")
    events.record(turn.thread_id, "message", message=str(message.pk))
    finish_turn(turn, state=Turn.State.FAILED, reason="limit:empty", note=note)


def _open_calls(turn: Turn, message: Message, calls: tuple[RequestedCall, ...]) -> None:
    for index, requested in enumerate(calls[: settings.TASKMONKEY["MAX_CALLS_PER_REPLY"]]):
        try:
            arguments, raw = parse_arguments(requested.arguments), ""
        except CodedError:
            arguments, raw = {}, requested.arguments[: 64 * 1024]
        tool = find_tool(requested.name)
        ToolCall.objects.create(
            turn=turn,
            message=message,
            round=turn.round,
            index=index,
            provider_id=requested.provider_id[:200],
            name=requested.name[:200],
            arguments=arguments,
            raw_arguments=raw,
            effect=tool.effect if tool else ToolCall.Effect.PURE,
        )


def _charge(turn: Turn, allowed: Allowed, input_tokens: int, output_tokens: int) -> None:
    """Adds the call to the turn's sums and settles its reservation with the same (P15)."""
    profile = allowed.prompt.profile
    prices = profile.input_price, profile.output_price
    if input_tokens:
        turn.prompt_tokens, turn.context_window = input_tokens, profile.context_window
    cost = budget.charge(turn, input_tokens=input_tokens, output_tokens=output_tokens, prices=prices)
    budget.settle(allowed.permit, tokens=input_tokens + output_tokens, cost=cost)
