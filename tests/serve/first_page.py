"""A new process that draws a signed-in person's conversation and then asks a model; it says what it had loaded by then."""

import importlib.abc
import json
import os
import sys
import threading

LATER = ("pydantic_ai", "redis", "openai", "anthropic", "pygments.lexers.ruby")
found: dict[str, object] = {}


class Watcher(importlib.abc.MetaPathFinder):
    """Notes which thread was the first to want the library that speaks to providers."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pydantic_ai":
            found.setdefault("loaded_by", threading.current_thread().name)


class Listener:
    """Keeps the text of an answer."""

    text = ""

    def on_text(self, delta: str) -> None:
        self.text += delta

    def on_reasoning(self, delta: str) -> None: ...


def main() -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client
    from django.utils.module_loading import import_string

    from assistants.management import server
    from assistants.models import Assistant, Membership, Tenant, User
    from assistants.turns import lifecycle

    call_command("migrate", verbosity=0)
    # However slow this machine is: what is loaded later is not loaded now.
    server.SETTLE_SECONDS = 3600.0
    server._start_engine()
    import_string(settings.ASGI_APPLICATION)
    tenant = Tenant.objects.create(slug="apes", name="Apes")
    alice = User.objects.create_user("alice")
    Membership.objects.create(user=alice, tenant=tenant, role="admin")
    lead = Assistant.objects.create(tenant=tenant, slug="lead", name="Lead", tools=["current_time", "search_documents"])
    thread = lifecycle.open_thread(lead, owner=alice, text="Hello")
    browser = Client(headers={"host": "localhost"})
    browser.force_login(alice)
    page = browser.get(f"/c/{thread.chat_id}/")
    found.update(status=page.status_code, early=[name for name in LATER if name in sys.modules])

    from assistants.llm.ask import ask
    from assistants.llm.profile import Profile
    from assistants.llm.request import User as Said

    listener = Listener()
    reply = ask(Profile("builtin", "builtin"), [Said("Hello")], [], listener).result(60)
    found.update(answered=bool(reply.text) and reply.text == listener.text)
    print(json.dumps(found), flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.meta_path.insert(0, Watcher())
    main()
