"""The roots that whoever a conversation belongs to may read."""

from django.db.models import Q, QuerySet

from assistants.models import DocumentRoot, Membership, Thread, User


def roots_for(thread: Thread) -> list[DocumentRoot]:
    """The roots, by name, that the conversation's owner may read. Asked afresh at every call (D7, D8)."""
    return list(roots_open_to(thread.owner).filter(tenant_id=thread.tenant_id).order_by("name"))


def roots_open_to(user: User | None) -> QuerySet[DocumentRoot]:
    """Every root that somebody may read: public ones for all, and for a member of the team those that are kept for no
    group, or for one of theirs."""
    if user is None:
        return DocumentRoot.objects.filter(public=True)
    teams = Membership.objects.filter(user_id=user.pk, user__is_active=True).values("tenant_id")
    kept_for = DocumentRoot.objects.filter(groups__isnull=False).values("pk")
    theirs = DocumentRoot.objects.filter(groups__user=user.pk).values("pk")
    return DocumentRoot.objects.filter(Q(public=True) | Q(tenant__in=teams) & (~Q(pk__in=kept_for) | Q(pk__in=theirs)))
