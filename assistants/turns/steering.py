"""Messages for a turn that runs: read at its next step, or at once in place of what it does now."""

from uuid import UUID

from django.db import transaction

from assistants.models import Message, Thread, ToolCall, Turn
from assistants.models.prepared import Prepared, put
from assistants.signals import turn_interrupted

from . import budget, events, executors
from .calls import next_sequence, settle_in
from .claims import locked
from .lifecycle import close_reply
from .prompt import turn_leaf
from .refusals import not_queued
from .threads import extend_branch, lock_thread

STEER, INTERRUPT = Turn.Joins.STEER, Turn.Joins.INTERRUPT


def take_in(turn: Turn) -> list[Message]:
    """Puts the messages that wait for the turn's next step onto its branch, behind the results of its calls.

    Inside a transaction that has locked the turn, just before the next reply is opened: a crash leaves each message
    either waiting or read. The turns that the messages would have started otherwise are gone with it. The messages come
    in the order in which they were written.
    """
    taken = []
    for waiting in _JOINING.rows(turn.thread_id):
        message = waiting.user_message
        waiting.delete()
        if message is None:
            continue
        message.parent = turn_leaf(turn, turn.thread)
        message.state, message.turn, message.round = Message.State.COMPLETE, turn, turn.round
        # Its place is where it is read, as with every message that waited.
        message.sequence = next_sequence(turn.thread_id)
        put(message, "state", "parent", "turn", "round", "sequence")
        extend_branch(message)
        events.record(turn.thread_id, "message", message=str(message.pk))
        taken.append(message)
    if taken:
        events.record(turn.thread_id, "queue")
    return taken


def waiting_for(turn: Turn) -> list[Turn]:
    """The messages that the turn is to read at its next step, as the queued turns that they would start otherwise."""
    return _JOINING.rows(turn.thread_id)


_JOINING = Prepared(
    lambda thread: (
        Turn.objects.filter(thread=thread, state=Turn.State.QUEUED)
        .exclude(joins=Turn.Joins.NOT)
        .select_for_update(of=("self",))
        .select_related("user_message")
        .order_by("pk")
    )
)


def goes_on(turn: Turn) -> bool:
    """Whether a turn that has written its last reply reads what waits before it ends; the turn must be locked.

    Only where a caller waits for its report: what a person says to a sub-chat in time must be in the one report that
    its caller gets. Elsewhere the message starts a turn of its own, which is the same to its reader.
    """
    return turn.root_id is not None and bool(waiting_for(turn))


def steer(waiting: Turn) -> None:
    """Lets a message that waits in the queue be read at the next step of the running turn. Raises `NOT_QUEUED`."""
    with transaction.atomic():
        thread = lock_thread(waiting.thread_id)
        if not thread.turns.filter(pk=waiting.pk, state=Turn.State.QUEUED).update(joins=STEER):
            raise not_queued()
        events.record(thread.pk, "queue")


def interrupt(thread: Thread, *, by: str) -> bool:
    """Cuts off what the thread's turn does now, keeps what it wrote, and lets it read the waiting message at once.

    It stays the same turn: a caller that waits for a sub-chat gets one report, from the turn as it went on. The reply
    that grows is closed as interrupted, open calls are settled, and what works below is stopped and reports what it
    has. False if no message of the kind waits (any more) or nothing runs: then the message started a turn by itself,
    or was read already.
    """
    active = thread.turns.active().first()
    if active is None:
        return False
    with locked(active.pk) as turn:
        if turn.is_final or all(each.joins != INTERRUPT for each in waiting_for(turn)):
            return False
        # From here on the runner that held the turn changes nothing any more (D4).
        turn.fence += 1
        turn.lease_until, turn.holder, turn.wake_at = None, "", None
        turn.reason = turn.note = ""
        turn.failures = 0
        close_reply(turn, Message.State.INTERRUPTED)
        # The runner that was cut off can't settle what it had reserved.
        budget.close_open(turn)
        left = _settle_calls(turn, by=by)
        if left:
            turn.state = Turn.State.WAITING
        else:
            turn.state = Turn.State.THINKING
            turn.round += 1
        put(turn)
        events.record(turn.thread_id, "turn", turn=turn.pk)
        transaction.on_commit(lambda: executors.abandon(turn.pk), robust=True)
        if not left:
            transaction.on_commit(lambda: executors.enqueue(turn.pk), robust=True)
    return True


def carry_out_left_behind() -> None:
    """Interrupts what a crash kept from being interrupted: the message was stored, and its turn works on."""
    waiting = Turn.objects.filter(state=Turn.State.QUEUED, joins=INTERRUPT, thread__turns__state__in=Turn.ACTIVE)
    for each in waiting.select_related("thread", "user_message__author").distinct():
        author = each.user_message.author if each.user_message else None
        interrupt(each.thread, by=author.display_name if author else "visitor")


def _settle_calls(turn: Turn, *, by: str) -> set[UUID]:
    """Gives every open call a result but those that others bring to an end right away; gives the ids of these."""
    left: set[UUID] = set()
    for _, answer in turn_interrupted.send(Turn, turn=turn):
        left |= answer if isinstance(answer, set) else set()
    for call in turn.calls.filter(state=ToolCall.State.OPEN).exclude(pk__in=left):
        begun_once = call.effect == ToolCall.Effect.ONCE and call.attempts > 0
        text = f"Interrupted by {by}, who says something else first."
        if call.attempts:
            text += " It had begun and may have had its effect." if begun_once else " It had begun; its result is not known."
        settle_in(
            turn,
            call.pk,
            outcome=ToolCall.Outcome.UNKNOWN if begun_once else ToolCall.Outcome.STOPPED,
            value=text,
            by=by,
            code="INTERRUPTED",
        )
    return left
