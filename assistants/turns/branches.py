"""Edited messages, and the branches they make: nothing is ever removed (E4)."""

from django.db import transaction

from assistants.errors import CodedError
from assistants.models import Message, User

from . import events
from .lifecycle import Sent, announce_thread, send_message
from .outline import outline_of
from .threads import lock_thread, set_leaf


def edit_message(message: Message, *, author: User | None, text: str, client_key: str = "") -> Sent:
    """Sends another wording of an earlier message: a sibling, on a branch of its own, that is shown from now on (E4).

    Raises `NOT_EDITABLE` for replies, for answers to questions and for messages that still wait, and what
    `send_message` raises; `TURN_ACTIVE` while an answer grows.
    """
    with transaction.atomic():
        _check_editable(message)
        sent = send_message(message.thread, author=author, text=text, client_key=client_key, instead_of=message)
        if not sent.repeated:
            events.record(message.thread_id, "log")
    return sent


def show_branch(message: Message) -> None:
    """Shows the branch that leads through this message, down to its newest end. Raises `NO_BRANCH`."""
    with transaction.atomic():
        thread = lock_thread(message.thread_id)
        outline = outline_of(thread.pk)
        if message.pk not in outline.places:
            raise CodedError(
                code="NO_BRANCH", message="This message stands on no branch.", fix="Choose another message.", correctable=False
            )
        if outline.shows(message.pk):
            return
        set_leaf(thread.pk, Message(pk=outline.newest_below(message.pk)))
        events.record(thread.pk, "log")
        announce_thread(thread)


def _check_editable(message: Message) -> None:
    plain = all(part.get("type") == "text" for part in message.parts)
    if message.role == Message.Role.USER and message.state == Message.State.COMPLETE and plain:
        return
    raise CodedError(
        code="NOT_EDITABLE",
        message="Only a message that was written and sent can be worded anew.",
        fix="Write a new message.",
        correctable=False,
    )
