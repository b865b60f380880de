"""Fills a fresh database for the kill tests and says with which sessions; run as a program, with STUB_URL set."""

import json
import os
from pathlib import Path

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
    for slug in ("lead", "middle", "leaf"):
        Assistant.objects.create(
            tenant=tenant, slug=slug, name=slug, description=slug, instructions=f"You are {slug}.", tools=TOOLS
        )
    sessions = {name: sign_in(tenant, name) for name in ("alice", "bob")}
    Path(settings.HOME, "sessions.json").write_text(json.dumps(sessions))


def sign_in(tenant: Tenant, name: str) -> str:
    """A member of the tenant, signed in; gives the session's key."""
    user = User.objects.create_user(name, password="secret")
    Membership.objects.create(tenant=tenant, user=user, role="admin")
    session = SessionStore()
    session["_auth_user_id"] = str(user.pk)
    session["_auth_user_backend"] = settings.AUTHENTICATION_BACKENDS[0]
    session["_auth_user_hash"] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


main()
