"""Keeps a conversation at hand or out of the way, and remembers what its owner has seen of it."""

from django.db import transaction
from django.db.models import F

from assistants.errors import CodedError
from assistants.models import Thread
from assistants.turns import events
from assistants.turns.lifecycle import announce_thread


def pin_thread(thread: Thread, *, pinned: bool) -> None:
    """Puts the conversation on top of the list, or back into its order. Raises `SUBCHAT_FOLLOWS`."""
    _mark(thread, pinned=pinned)


def archive_thread(thread: Thread, *, archived: bool) -> None:
    """Takes the conversation out of the list, or back in; search and its address still find it. Raises `SUBCHAT_FOLLOWS`."""
    _mark(thread, archived=archived)


def mark_seen(thread: Thread, number: int) -> None:
    """Notes that the owner's page has shown the events up to this number; an older number changes nothing.

    The owner's other pages are told only when the mark of unread news goes away.
    """
    with transaction.atomic():
        own = Thread.objects.filter(pk=thread.pk, seen_event__lt=number, last_event__gte=number)
        unread = own.filter(seen_event__lt=F("last_news")).exists()
        if own.update(seen_event=number) and unread:
            announce_thread(thread)


def _mark(thread: Thread, **marks: bool) -> None:
    if thread.parent_id is not None:
        raise CodedError(
            code="SUBCHAT_FOLLOWS",
            message="A sub-chat stays where the conversation is that it belongs to.",
            fix="Do this with that conversation.",
            correctable=False,
        )
    with transaction.atomic():
        # Not saved as a whole: the order of the list is by what was said last, and this says nothing.
        if Thread.objects.filter(pk=thread.pk).exclude(**marks).update(**marks):
            events.record(thread.pk, "thread")
            announce_thread(thread)
