"""Starts, finishes and stops turns. Each function is one transaction, or runs inside the caller's."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from assistants import clock
from assistants.errors import CodedError
from assistants.failpoints import failpoint
from assistants.models import Assistant, Message, Thread, ToolCall, Turn, User
from assistants.models.definition import definition_in
from assistants.models.prepared import insert, put
from assistants.signals import turn_finished, turn_started
from assistants.units import unit

from . import budget, events, executors, live
from .calls import next_sequence, open_question, settle_in
from .prompt import last_said
from .refusals import check_answerable, check_queue, check_text, nothing_to_retry, turn_active
from .threads import going_in, leaf_of, lock_thread, name_thread, said_with, set_leaf


@dataclass(frozen=True)
class Sent:
    """An accepted message and the turn that answers it. `repeated` when the client key was seen before (D3)."""

    message: Message
    turn: Turn
    repeated: bool = False


@unit
def open_thread(assistant: Assistant, *, owner: User | None, text: str, client_key: str = "", visitor_key: str = "") -> Thread:
    """Starts a conversation together with its first message. A known client key returns the first thread (P2, D3)."""
    check_text(text)
    known = Thread.objects.roots().filter(owner=owner, visitor_key=visitor_key, client_key=client_key)
    known = known if client_key and (owner or visitor_key) else known.none()
    try:
        with transaction.atomic():
            if thread := known.first():
                return thread
            thread = Thread.objects.create(
                tenant=assistant.tenant, owner=owner, visitor_key=visitor_key, assistant=assistant, client_key=client_key
            )
            send_message(thread, author=owner, text=text, client_key=client_key)
    except IntegrityError:
        # Another request with the same key was first, and its conversation is stored by now.
        if thread := known.first():
            return thread
        raise
    return thread


@unit
def send_message(
    thread: Thread,
    *,
    author: User | None,
    text: str,
    client_key: str = "",
    instead_of: Message | None = None,
    parts: list[dict[str, object]] | None = None,
    joins: str = Turn.Joins.NOT,
    answer: Callable[[ToolCall], None] | None = None,
) -> Sent:
    """Accepts a message and starts the turn that answers it, or queues both behind the running one or an open question.

    `instead_of` makes the message a sibling of an earlier one: a new branch. `parts` are stored beside the text. `joins`
    lets a running turn take it in (see `steering`); where nothing runs it means nothing. `answer` closes the question that
    is open, where the message is to be an answer to it.
    Raises `MESSAGE_EMPTY`, `MESSAGE_TOO_LONG`, `ASSISTANT_DISABLED`, `QUEUE_FULL`, and `TURN_ACTIVE` for a new branch
    while an answer grows. A known client key returns the first answer.
    """
    failpoint("send.received")
    check_text(text)
    with transaction.atomic():
        thread = lock_thread(thread.pk)
        if client_key and (known := said_with(thread, client_key)):
            return Sent(known, _turn_of(known), repeated=True)
        check_answerable(thread)
        # Before anybody is rung; a caller's transaction is committed by then too.
        transaction.on_commit(lambda: failpoint("send.committed"))
        # An open question holds back what is no answer to it.
        question = open_question(thread) if instead_of is None else None
        if question and answer:
            answer(question)
            # The same reply may have asked another one.
            question = open_question(thread)
        busy = question is not None or any(each.is_active for each in going_in(thread))
        if busy:
            check_queue(thread, branching=instead_of is not None)
        message = Message(
            thread_id=thread.pk,
            role=Message.Role.USER,
            author=author,
            client_key=client_key,
            state=Message.State.QUEUED,
            parts=[{"type": "text", "text": text}, *(parts or [])],
        )
        turn = Turn(thread=thread, user_message=message, state=Turn.State.QUEUED, joins=joins if busy else Turn.Joins.NOT)
        if not thread.title:
            name_thread(thread, text)
        if busy:
            message.sequence = next_sequence(thread.pk)
            insert(message)
            insert(turn)
            events.record(thread.pk, "queue")
        else:
            begin_turn(turn, after=instead_of.parent if instead_of else leaf_of(thread))
    return Sent(message, turn)


def _turn_of(message: Message) -> Turn:
    """The turn that a message started, or that took it in."""
    turn = message.started_turns.order_by("pk").first() or message.turn
    assert turn is not None
    return turn


def begin_turn(turn: Turn, *, after: Message | None) -> None:
    """Takes a queued turn to work: its message joins the branch after `after`. Inside the caller's transaction.

    A turn that was made just now may be new to the database, and its message with it.
    """
    message = turn.user_message
    assert message is not None
    _set_thinking(turn)
    message.state = Message.State.COMPLETE
    message.parent = after
    message.turn = turn
    # A queued message was overtaken by replies: it takes its place in the order when it is read, not when it came.
    message.sequence = next_sequence(turn.thread_id)
    put(message, "state", "parent", "turn", "sequence")
    _tell_started(turn)
    events.record(turn.thread_id, "message", message=str(message.pk))


def start_turn(turn: Turn) -> None:
    """Sets a turn thinking on top of its user message, tells the upper apps, and rings for a runner on commit."""
    _set_thinking(turn)
    _tell_started(turn)


def _set_thinking(turn: Turn) -> None:
    turn.state, turn.joins = Turn.State.THINKING, Turn.Joins.NOT
    turn.assistant_version = definition_in(turn.thread).version
    put(turn, "state", "joins", "assistant_version")


def _tell_started(turn: Turn) -> None:
    set_leaf(turn.thread_id, turn.user_message)
    turn_started.send(Turn, turn=turn)
    events.record_turn(turn)
    announce_thread(turn.thread)
    transaction.on_commit(lambda: executors.enqueue(turn.pk), robust=True)


def finish_turn(turn: Turn, *, state: str, reason: str = "", note: str = "") -> None:
    """Ends a locked turn for good and starts the next queued one; its caller's call is settled by a receiver (step 9).

    Everything happens in the transaction that holds the lock, so a child is never done without its parent knowing.
    """
    failpoint("turn.finishing")
    budget.close_open(turn)
    if turn.root_id is None:
        turn.token_cap = budget.cap_of(turn)
    turn.state, turn.reason, turn.note = state, reason, note
    turn.finished = clock.now()
    turn.lease_until, turn.holder, turn.wake_at = None, "", None
    put(turn)
    events.record_turn(turn)
    announce_thread(turn.thread)
    turn_finished.send(Turn, turn=turn)
    start_next(turn.thread)
    transaction.on_commit(lambda: failpoint("turn.terminal"))


def pause_turn(turn: Turn, *, reason: str, note: str, seconds: float | None = None, wake_at: datetime | None = None) -> None:
    """Lets a locked turn rest with its work kept: for so many seconds, until a moment, or until somebody wakes it."""
    turn.state, turn.reason, turn.note = Turn.State.PAUSED, reason, note
    turn.wake_at = wake_at if seconds is None else clock.now() + timedelta(seconds=seconds)
    turn.lease_until, turn.holder = None, ""
    put(turn)
    events.record(turn.thread_id, "turn", turn=turn.pk)
    if seconds is not None:
        transaction.on_commit(lambda: executors.enqueue_later(turn.pk, seconds), robust=True)


def start_next(thread: Thread) -> None:
    """Begins the thread's oldest queued turn, if none is active; what was meant for the turn that ended goes first.

    A question holds the queue: what was written before it was asked is no answer to it (Q2, Q8).
    """
    going = going_in(thread)
    if not going or any(each.is_active for each in going):
        return
    if not open_question(thread):
        begin_turn(min(going, key=lambda each: (each.joins == Turn.Joins.NOT, each.pk)), after=leaf_of(thread))


@unit
def stop_turn(turn_id: int, *, by: str, reason: str = "stopped") -> bool:
    """Ends a turn now, keeping what was written (T1-T7). False if it had ended already; a second stop is harmless."""
    with transaction.atomic():
        turn = Turn.objects.select_for_update(no_key=True).filter(pk=turn_id).first()
        if turn is None or turn.is_final:
            return False
        if turn.state == Turn.State.QUEUED:
            drop_queued(turn)
            return True
        end_now(turn, state=Turn.State.STOPPED, reason=reason, note=f"Stopped by {by}.", by=by)
    return True


def end_now(turn: Turn, *, state: str, reason: str, note: str, by: str) -> None:
    """Ends a locked turn whose runner may be at work, with all the text that is known; the runner changes nothing more."""
    turn.fence += 1
    for call in turn.calls.filter(state=ToolCall.State.OPEN):
        settle_in(turn, call.pk, outcome=ToolCall.Outcome.STOPPED, value=note, by=by, code="STOPPED")
    close_reply(turn, Message.State.STOPPED if state == Turn.State.STOPPED else Message.State.INTERRUPTED)
    finish_turn(turn, state=state, reason=reason, note=note)
    transaction.on_commit(lambda: executors.cancel(turn.pk), robust=True)


def close_reply(turn: Turn, state: str) -> None:
    """Ends the reply that is still growing, with all the text that is known of it."""
    reply = turn.messages.filter(role=Message.Role.ASSISTANT, state=Message.State.STREAMING).first()
    if reply is None:
        return
    growing = live.current(turn.thread_id)
    # A copy of what grows in another process may lag behind what was stored.
    lags = growing is not None and growing.is_copy and len(growing.text) < len(reply.text)
    if growing and growing.message_id == reply.pk and not lags:
        reply.parts = reply_parts(growing.text, growing.reasoning_text)
    reply.state = state
    put(reply, "parts", "state")
    events.record(turn.thread_id, "message", message=str(reply.pk))


def reply_parts(text: str, reasoning: str = "") -> list[dict[str, str]]:
    """A reply as message parts, without characters that a database refuses."""
    parts = []
    if reasoning:
        parts.append({"type": "reasoning", "text": reasoning.replace("\0", "")})
    if text:
        parts.append({"type": "text", "text": text.replace("\0", "")})
    return parts


@unit
def retry_turn(turn: Turn) -> Turn:
    """Answers what the turn was told last once more, as a sibling of the reply it got (E2, R6).

    Raises `TURN_ACTIVE`, `NOTHING_TO_RETRY` for a turn that has not ended or lost its message, `ASSISTANT_DISABLED`.
    """
    with transaction.atomic():
        thread = lock_thread(turn.thread_id)
        if thread.turns.active().exists():
            raise turn_active()
        message = last_said(turn)
        if message is None or not turn.is_final:
            raise nothing_to_retry()
        check_answerable(thread)
        again = Turn.objects.create(thread=thread, user_message=message, state=Turn.State.QUEUED)
        start_turn(again)
        events.record(thread.pk, "log")
    return again


def last_turn(thread: Thread) -> Turn:
    """The newest turn that was begun. Raises `NO_TURN` in a thread that has none."""
    turn = thread.turns.exclude(state=Turn.State.QUEUED).order_by("-pk").first()
    if turn is None:
        raise CodedError(code="NO_TURN", message="Nothing was asked here yet.", fix="Write a message first.")
    return turn


def drop_queued(turn: Turn) -> str:
    """Takes a message back that no model has seen, and gives its text; the page puts it into the composer."""
    message = turn.user_message
    text = message.text if message else ""
    thread_id = turn.thread_id
    turn.delete()
    if message is not None:
        message.delete()
    events.record(thread_id, "queue")
    return text


def announce_thread(thread: Thread) -> None:
    """Tells the owner's pages on commit that this thread's row in the sidebar may look different."""
    if thread.owner_id:
        events.announce(f"user:{thread.owner_id}")
