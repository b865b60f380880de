"""Fills a fresh data directory: `python -m bench.inhabit OUT UPSTREAM PEOPLE CHATS MODEL`, with TASKMONKEY_HOME set."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

WORKERS = ("one", "two", "three", "four")
# What the lead may use, by how its model's name begins.
TOOLS = {
    "fanout-": ["write_plan", "invoke_assistant", "spawn_agents"],
    "crowd": ["invoke_assistant", "ask_clarifying_question", "current_time"],
}


def inhabit(out: Path, *, upstream: int, people: int, chats: int, model: str) -> None:
    """Makes signed-in people with empty conversations, and writes their session keys and chat ids to `out`."""
    from django.core.management import call_command

    from assistants.models import Assistant, LLMProfile, Membership, Tenant, Thread, User

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    tenant = Tenant.objects.create(slug="bench", name="Bench")
    profile = LLMProfile.objects.create(
        tenant=tenant,
        name="upstream",
        provider=LLMProfile.Provider.OPENAI,
        model=model,
        base_url=f"http://127.0.0.1:{upstream}/v1",
        makes_titles=False,
    )
    tools = next((names for start, names in TOOLS.items() if model.startswith(start)), [])
    waits = model == "crowd"
    lead = Assistant.objects.create(
        tenant=tenant, slug="lead", name="Lead", instructions="You answer.", profile=profile, tools=tools,
        approve_tools=["current_time"] if waits else [],
    )  # fmt: skip
    for slug in WORKERS if tools else ():
        Assistant.objects.create(
            tenant=tenant,
            slug=slug,
            name=slug.title(),
            description=f"Knows part {slug}.",
            instructions="You work.",
            profile=profile,
            may_ask=waits,
            tools=["ask_clarifying_question"] if waits else [],
        )
    users = User.objects.bulk_create([User(username=f"person{number}", password="!") for number in range(people)])
    Membership.objects.bulk_create([Membership(user=user, tenant=tenant, role="member") for user in users])
    told = []
    for user in users:
        threads = [Thread(tenant=tenant, owner=user, assistant=lead, title="Measured", title_by="person") for _ in range(chats)]
        made = Thread.objects.bulk_create(threads)
        told.append({"session": _sign_in(user), "chats": [thread.chat_id for thread in made]})
    out.write_text(json.dumps(told))


def _sign_in(user: Any) -> str:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taskmonkey.settings")
    import django

    django.setup()
    inhabit(Path(sys.argv[1]), upstream=int(sys.argv[2]), people=int(sys.argv[3]), chats=int(sys.argv[4]), model=sys.argv[5])
