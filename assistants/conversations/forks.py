"""Copies a conversation up to one message into a new one of its own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Max

from assistants.errors import CodedError
from assistants.models import Message, Thread, ToolCall, Turn, User
from assistants.signals import thread_forked
from assistants.tables.pointers import copy_tables
from assistants.turns import events, taint
from assistants.turns.calls import add_message
from assistants.turns.lifecycle import announce_thread
from assistants.turns.outline import outline_of
from assistants.turns.refusals import turn_active
from assistants.turns.threads import lock_thread, set_leaf


def fork_thread(message: Message, *, owner: User | None, visitor_key: str = "", client_key: str = "") -> Thread:
    """Starts a new conversation with a copy of the branch that leads to this message; the old one stays as it is.

    Messages, settled calls, how their turns ended and the tables that they name are copied; what they cost is not, it was
    paid once. A known client key returns the first copy. Raises `TURN_ACTIVE` while the message grows, `NO_BRANCH`.
    """
    with transaction.atomic():
        source = lock_thread(message.thread_id)
        known = Thread.objects.roots().filter(owner=owner, visitor_key=visitor_key, client_key=client_key).first()
        if client_key and (owner or visitor_key) and known:
            return known
        path = _path_to(message)
        fork = Thread.objects.create(
            tenant_id=source.tenant_id,
            owner=owner,
            visitor_key=visitor_key,
            assistant_id=source.assistant_id,
            agent=source.agent,
            client_key=client_key,
            title=_title(source, owner),
            title_by=source.title_by,
            title_asked=True,
        )
        taint.flow(source.pk, fork.pk)
        for system in source.messages.filter(role=Message.Role.SYSTEM).order_by("sequence"):
            add_message(fork.pk, role=Message.Role.SYSTEM, parts=system.parts)
        set_leaf(fork.pk, _copy_talk(source, fork, path))
        thread_forked.send(Thread, source=source, fork=fork, until=_end_of(path))
        events.record(fork.pk, "log")
        announce_thread(fork)
    return fork


def _path_to(message: Message) -> list[Message]:
    path = outline_of(message.thread_id).path_to(message.pk)
    if not path:
        raise CodedError(
            code="NO_BRANCH", message="This message stands on no branch.", fix="Choose another message.", correctable=False
        )
    rows = Message.objects.select_related("turn").in_bulk([place.pk for place in path])
    messages = [rows[place.pk] for place in path]
    if any(each.state == Message.State.STREAMING for each in messages):
        raise turn_active()
    return messages


def _end_of(path: Sequence[Message]) -> datetime:
    """When the last message of the branch was written, or the last of its calls was settled."""
    settled = ToolCall.objects.filter(message__in=[each.pk for each in path]).aggregate(last=Max("settled"))["last"]
    return max(path[-1].created, settled or path[-1].created)


def _title(source: Thread, owner: User | None) -> str:
    """The source's title with the next free number behind it."""
    taken = set(Thread.objects.filter(owner=owner, title__startswith=source.title[:100]).values_list("title", flat=True))
    numbered = (f"{source.title[:190]} ({number})" for number in range(2, len(taken) + 3))
    return next(title for title in numbered if title not in taken)


def _copy_talk(source: Thread, fork: Thread, path: Sequence[Message]) -> Message | None:
    calls = list(ToolCall.objects.filter(message__in=[each.pk for each in path], state=ToolCall.State.SETTLED))
    new_ids = {str(call.pk): uuid4() for call in calls}
    turns: dict[int, Turn] = {}
    copies: dict[UUID, Message] = {}
    last: Message | None = None
    for message in path:
        turn = _copy_turn(fork, message.turn, turns)
        last = add_message(
            fork.pk,
            role=message.role,
            state=message.state,
            parts=[_with_new_call(part, new_ids) for part in message.parts],
            author_id=message.author_id,
            parent=last,
            turn=turn,
            round=message.round,
        )
        if turn and message.role == Message.Role.USER:
            Turn.objects.filter(pk=turn.pk).update(user_message=last)
        copies[message.pk] = last
    texts = [*(each.text for each in path), *(call.result for call in calls), *(str(call.arguments) for call in calls)]
    _copy_calls(calls, new_ids, copies, turns)
    copy_tables(source, fork, texts, new_ids)
    return last


def _with_new_call(part: dict[str, Any], new_ids: dict[str, UUID]) -> dict[str, Any]:
    """An answer names the question it was given to: in the copy, the question's copy."""
    new = new_ids.get(part.get("call", ""))
    return {**part, "call": str(new)} if new else part


def _copy_turn(fork: Thread, turn: Turn | None, copied: dict[int, Turn]) -> Turn | None:
    if turn is None:
        return None
    if turn.pk not in copied:
        ended = turn.is_final
        copied[turn.pk] = Turn.objects.create(
            thread=fork,
            state=turn.state if ended else Turn.State.STOPPED,
            reason=turn.reason if ended else "stopped",
            note=turn.note if ended else "",
            round=turn.round,
            assistant_version=turn.assistant_version,
            profile_label=turn.profile_label,
            started=turn.started,
            finished=turn.finished,
        )
    return copied[turn.pk]


def _copy_calls(
    calls: Sequence[ToolCall], new_ids: dict[str, UUID], copies: dict[UUID, Message], turns: dict[int, Turn]
) -> None:
    """Only what is settled was read: an open call belongs to the conversation that waits for it."""
    for call in calls:
        call.message = copies[call.message_id] if call.message_id else None
        call.pk, call.turn = new_ids[str(call.pk)], turns[call.turn_id]
        call._state.adding = True
    ToolCall.objects.bulk_create(calls)
