"""Deletes a conversation with everything under it."""

from functools import partial

from django.db import transaction

from assistants.access import audit
from assistants.errors import CodedError
from assistants.models import Thread, Turn, User
from assistants.turns import events, executors
from assistants.turns.lifecycle import stop_turn


def delete_thread(thread: Thread, *, by: User | None, name: str) -> None:
    """Stops whatever runs in the conversation and its sub-chats, then removes them for good (E1).

    A runner that still writes afterwards is refused, since the turn it holds is gone. Raises `SUBCHAT_FOLLOWS`: a
    sub-chat is part of what its parent did and goes with it.
    """
    if thread.parent_id is not None:
        raise CodedError(
            code="SUBCHAT_FOLLOWS",
            message="A sub-chat can't be deleted alone: its parent's answer rests on it.",
            fix="Delete the conversation it belongs to.",
            correctable=False,
        )
    _stop_all(thread, name)
    with transaction.atomic():
        tree = [thread.pk, *Thread.objects.filter(root=thread).values_list("pk", flat=True)]
        turns = list(Turn.objects.filter(thread__in=tree).values_list("pk", flat=True))
        audit("delete", tenant_id=thread.tenant_id, user=by, target=thread.chat_id, threads=len(tree))
        readers = [thread.owner_id, *thread.shares.values_list("user_id", flat=True)]
        Thread.objects.filter(pk=thread.pk).delete()
        for number in tree:
            events.announce(f"thread:{number}")
        for person in filter(None, readers):
            events.announce(f"user:{person}")
        for turn in turns:
            # For one that began between the stop and now.
            transaction.on_commit(partial(executors.cancel, turn), robust=True)


def _stop_all(thread: Thread, name: str) -> None:
    """The queue first, so that no stopped turn starts the next; then from the top down, so that no parent goes on."""
    tree = Turn.objects.filter(thread__in=[thread.pk, *Thread.objects.filter(root=thread).values_list("pk", flat=True)])
    for state in ([Turn.State.QUEUED], Turn.ACTIVE):
        for turn_id in tree.filter(state__in=state).order_by("thread_id", "pk").values_list("pk", flat=True):
            stop_turn(turn_id, by=name, reason="deleted")
