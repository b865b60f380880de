"""Who belongs to a team."""

from assistants.models import Membership, Tenant, User


def add_member(user: User, tenant: Tenant, *, role: str) -> Membership:
    """Gives the user a place in the tenant, or another role in the place they have."""
    membership, _ = Membership.objects.update_or_create(user=user, tenant=tenant, defaults={"role": role})
    return membership
