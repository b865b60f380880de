"""Fills a fresh database for the kill tests; run as `manage.py shell < prepare.py`-like script with STUB_URL set."""

import os

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from django.core.management import call_command  # noqa: E402

from assistants.models import Assistant, LLMProfile, Membership, Tenant, User  # noqa: E402

TOOLS = [
    "look", "put", "charge", "ask_clarifying_question", "invoke_assistant", "hand_back", "write_plan", "spawn_agents",
]  # fmt: skip


def main() -> None:
    """Makes one user with a session, a lead and two specialists, all asking the stub model."""
    call_command("migrate", verbosity=0)
    tenant = Tenant.objects.create(slug="apes", name="Apes")
    profile = LLMProfile.objects.create(
        tenant=tenant, name="stub", provider="openai", model="stub", base_url=os.environ["STUB_URL"], makes_titles=False
    )
    profile.set_key("sk-CANARY-0123456789")
    profile.save()
    tenant.default_profile = profile
    tenant.save()
    user = User.objects.create_user("alice", password="secret")
    Membership.objects.create(tenant=tenant, user=user, role="admin")
    for slug in ("lead", "middle", "leaf"):
        Assistant.objects.create(
            tenant=tenant, slug=slug, name=slug, description=slug, instructions=f"You are {slug}.", tools=TOOLS
        )
    session = SessionStore()
    session["_auth_user_id"] = str(user.pk)
    session["_auth_user_backend"] = settings.AUTHENTICATION_BACKENDS[0]
    session["_auth_user_hash"] = user.get_session_auth_hash()
    session.create()
    print(session.session_key)


main()
