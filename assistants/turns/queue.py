"""The messages that wait behind a running turn: one is taken back, or goes first."""

from django.db import transaction

from assistants.models import Thread, ToolCall, Turn, User
from assistants.units import unit

from . import events
from .calls import open_question
from .lifecycle import Sent, begin_turn, drop_queued, stop_turn
from .questions import answer_plainly, check_waiting, send_or_answer
from .refusals import not_queued
from .steering import interrupt
from .threads import leaf_of, lock_thread


@unit
def unqueue(turn: Turn) -> str:
    """Takes a waiting message back and gives its text. Raises `NOT_QUEUED` once it was read by a model."""
    with transaction.atomic():
        # The thread first, as everybody who lets a queued turn begin has it.
        Thread.objects.select_for_update(no_key=True).filter(pk=turn.thread_id).first()
        waiting = Turn.objects.select_for_update().filter(pk=turn.pk, state=Turn.State.QUEUED).first()
        if waiting is None:
            raise not_queued()
        return drop_queued(waiting)


@unit
def use_as_answer(turn: Turn, question: ToolCall, *, by: User | None) -> Sent:
    """Takes a message that waits in this conversation for the person's own words on a question below it (Q8, decision 7).

    Raises `NOT_QUEUED`, and `QUESTION_PASSED` or `ALREADY_ANSWERED` with the message left where it waits.
    """
    asker = question.turn.thread
    with transaction.atomic():
        check_waiting(question)
        return send_or_answer(asker, author=by, text=unqueue(turn), client_key=f"queued-{turn.pk}")


def send_now(turn: Turn, *, by: User | None, name: str) -> None:
    """Lets this waiting message go first, and stops what runs; every other one goes on waiting (S15).

    A sub-chat that its caller waits for is not ended by that: its turn is interrupted, and goes on with the message.
    Where a question holds the queue, the message counts as an answer in the person's own words (Q8).
    Raises `NOT_QUEUED`.
    """
    with transaction.atomic():
        thread = lock_thread(turn.thread_id)
        first = _put_first(thread, turn)
        active = thread.turns.active().first()
        if active and active.root_id:
            Turn.objects.filter(pk=first.pk).update(joins=Turn.Joins.INTERRUPT)
        if active is None:
            question = open_question(thread)
            begin_turn(first, after=leaf_of(thread))
            if question and first.user_message:
                answer_plainly(question, by=by, text=first.user_message.text)
    if active and active.root_id:
        interrupt(thread, by=name)
    elif active:
        # Outside, so that the runner is never waited for while the thread is locked. If the turn ends by itself in
        # between, the message has begun already and stopping does nothing.
        stop_turn(active.pk, by=name)


def _put_first(thread: Thread, turn: Turn) -> Turn:
    """Queued turns start in the order of their ids, so the messages move up and the ids stay."""
    queue = list(thread.turns.filter(state=Turn.State.QUEUED).order_by("pk"))
    place = next((number for number, each in enumerate(queue) if each.pk == turn.pk), None)
    if place is None:
        raise not_queued()
    messages = [(each.user_message_id, each.joins) for each in queue]
    order = [(messages[place][0], Turn.Joins.NOT), *messages[:place], *messages[place + 1 :]]
    for each, (message_id, joins) in zip(queue, order, strict=True):
        Turn.objects.filter(pk=each.pk).update(user_message=message_id, joins=joins)
    events.record(thread.pk, "queue")
    return Turn.objects.select_related("thread", "user_message").get(pk=queue[0].pk)
