"""The roots that whoever a conversation belongs to may read."""

from assistants.models import DocumentRoot, Membership, Thread


def roots_for(thread: Thread) -> list[DocumentRoot]:
    """The tenant's roots, by name: all for a member, the public ones for a visitor and for who is no member any more.

    Asked afresh at every call (D7, D8).
    """
    roots = DocumentRoot.objects.filter(tenant_id=thread.tenant_id).order_by("name")
    if not _is_member(thread):
        roots = roots.filter(public=True)
    return list(roots)


def _is_member(thread: Thread) -> bool:
    if thread.owner_id is None:
        return False
    members = Membership.objects.filter(tenant_id=thread.tenant_id, user_id=thread.owner_id, user__is_active=True)
    return members.exists()
