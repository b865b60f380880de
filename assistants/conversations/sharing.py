"""Lets other members of a tenant read a conversation and everything under it."""

from django.db import transaction

from assistants.access import audit, role_in
from assistants.errors import CodedError
from assistants.models import Thread, ThreadShare, User
from assistants.turns import events


def share_thread(thread: Thread, *, username: str, by: User) -> ThreadShare:
    """Lets one more member read, not write (A3: nobody may before). A second time does nothing.

    Raises `SUBCHAT_FOLLOWS`, `ALREADY_YOURS`, and `NOT_A_MEMBER` in the same words for strangers, for members of
    another tenant and for names that nobody has (S04).
    """
    _check_root(thread)
    person = User.objects.filter(username=username.strip(), is_active=True).first()
    if person is None or role_in(person, thread.tenant_id) is None:
        raise CodedError(
            code="NOT_A_MEMBER",
            field="username",
            message="Nobody of this name belongs to your team.",
            fix="Enter the sign-in name of a member.",
        )
    if person.pk == thread.owner_id:
        raise CodedError(
            code="ALREADY_YOURS", field="username", message="This conversation is yours.", fix="Enter somebody else's name."
        )
    with transaction.atomic():
        share, made = ThreadShare.objects.get_or_create(thread=thread, user=person)
        if made:
            audit("share", tenant_id=thread.tenant_id, user=by, target=thread.chat_id, reader=person.pk)
            _announce(thread, person)
    return share


def unshare_thread(thread: Thread, *, username: str, by: User) -> None:
    """Takes the right to read away, at once and for all sub-chats too (S04). Harmless when there was none."""
    _check_root(thread)
    with transaction.atomic():
        for share in ThreadShare.objects.filter(thread=thread, user__username=username.strip()).select_related("user"):
            share.delete()
            audit("unshare", tenant_id=thread.tenant_id, user=by, target=thread.chat_id, reader=share.user_id)
            _announce(thread, share.user)


def _announce(thread: Thread, person: User) -> None:
    """Their sidebar changes, and open pages ask anew whether they may go on."""
    events.record(thread.pk, "thread")
    events.announce(f"user:{person.pk}")
    for below in Thread.objects.filter(root=thread).values_list("pk", flat=True):
        events.announce(f"thread:{below}")


def _check_root(thread: Thread) -> None:
    if thread.parent_id is not None:
        raise CodedError(
            code="SUBCHAT_FOLLOWS",
            message="A sub-chat is read by whoever may read the conversation it belongs to.",
            fix="Share that conversation.",
            correctable=False,
        )
