"""Whom a search from outside a conversation is for: the team, its research assistant, and the person in whose name."""

from assistants import access
from assistants.errors import CodedError
from assistants.models import Assistant, Membership, Role, Tenant, User

from .config import Config


def get_researcher(config: Config) -> Assistant:
    """The research assistant that is meant: the one named, else the only one. Raises `CONFIG_INVALID` with the key at fault."""
    tenant = _tenant(config.tenant)
    found = Assistant.objects.enabled().filter(tenant=tenant, research=True, internal=False).select_related("tenant", "profile")
    if config.assistant:
        chosen = found.filter(slug=config.assistant).first()
        if chosen is None:
            raise _unclear("assistant", f"The team “{tenant.slug}” has no research assistant “{config.assistant}”.", found)
        return chosen
    if len(several := list(found.order_by("pk")[:20])) != 1:
        many = "several research assistants" if several else "no research assistant"
        raise _unclear("assistant", f"The team “{tenant.slug}” has {many}.", several)
    return several[0]


def get_asker(config: Config, assistant: Assistant) -> User:
    """The person in whose name it searches: the one named, else the team's first admin. Raises `CONFIG_INVALID`."""
    members = Membership.objects.filter(tenant=assistant.tenant, user__is_active=True).select_related("user").order_by("pk")
    named = members.filter(user__username=config.user) if config.user else members.filter(role=Role.ADMIN)
    user = next((each.user for each in named if access.may(each.user, "use", assistant)), None)
    if user is None:
        who = f"“{config.user}”" if config.user else "No admin of the team"
        raise _unclear("user", f"{who} may not use “{assistant.slug}”." if config.user else f"{who} may use it.", ())
    return user


def _tenant(slug: str) -> Tenant:
    tenants = Tenant.objects.order_by("pk")
    if slug:
        chosen = tenants.filter(slug=slug).first()
        if chosen is None:
            raise _unclear("tenant", f"There is no team “{slug}”.", tenants[:20])
        return chosen
    if len(several := list(tenants[:20])) != 1:
        raise _unclear("tenant", "There are several teams." if several else "There is no team yet.", several)
    return several[0]


def _unclear(field: str, message: str, known: object) -> CodedError:
    slugs = ", ".join(each.slug for each in known)  # type: ignore[attr-defined]
    fix = f"Name one with “{field}”" + (f": {slugs}." if slugs else ".")
    return CodedError(code="CONFIG_INVALID", field=field, message=message, fix=fix)
