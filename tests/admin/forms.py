"""What the admin's forms send, with the answers of whoever fills them in."""

from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from assistants.models import Assistant, LLMProfile, Tenant


def address(model: str, page: str, *args: object, **query: object) -> str:
    where = reverse(f"admin:assistants_{model}_{page}", args=args)
    return where + "?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else where


def assistant_data(assistant: Assistant | None = None, **changes: Any) -> dict[str, Any]:
    """The assistant's form as the page shows it, with some answers changed; False leaves a box unticked."""
    shown: dict[str, Any] = {"name": "New", "slug": "new", "instructions": "You are new.", "max_steps": 50, "enabled": "on"}
    shown |= {"plan_gate": "fanout", "plan_approval": "none"}
    if assistant:
        fields = ("name", "slug", "avatar", "description", "instructions", "tools", "max_steps")
        shown |= {field: getattr(assistant, field) for field in (*fields, "plan_gate", "plan_approval")}
        limits = ("turn_tokens", "idle_seconds", "wall_seconds")
        shown |= {field: getattr(assistant, field) for field in limits if getattr(assistant, field) is not None}
        shown["starters"] = "\n".join(assistant.starters)
        shown["delegates"] = list(assistant.delegates.values_list("pk", flat=True))
        shown |= {field: "on" for field in ("public", "may_ask", "enabled") if getattr(assistant, field)}
        shown |= {f: getattr(assistant, f"{f}_id") for f in ("profile", "domain") if getattr(assistant, f"{f}_id")}
    return {name: value for name, value in (shown | changes).items() if value is not False}


def change_assistant(client: Client, assistant: Assistant, **changes: Any) -> HttpResponse:
    return client.post(address("assistant", "change", assistant.pk), assistant_data(assistant, **changes))


def profile_data(profile: LLMProfile | None = None, **changes: Any) -> dict[str, Any]:
    fields = (
        *("name", "provider", "model", "base_url", "max_output_tokens", "context_window"),
        *("first_token_seconds", "idle_seconds", "total_seconds", "input_price", "output_price"),
    )
    blank = profile or LLMProfile(name="New", provider="openai", model="gpt")
    shown = {field: getattr(blank, field) for field in fields} | {"streaming": "on", "makes_titles": "on"}
    return shown | changes


def tenant_data(tenant: Tenant, *rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The tenant's form; each row is a member as the page shows it, an old one with its `id`."""
    data: dict[str, Any] = {"name": tenant.name, "slug": tenant.slug, "currency": tenant.currency, **changes}
    data |= {"memberships-TOTAL_FORMS": len(rows), "memberships-INITIAL_FORMS": sum("id" in row for row in rows)}
    for place, row in enumerate(rows):
        data |= {f"memberships-{place}-{name}": value for name, value in ({"tenant": tenant.pk} | row).items()}
    return data


def errors_of(response: HttpResponse) -> dict[str, list[str]]:
    return response.context["adminform"].form.errors  # type: ignore[attr-defined, no-any-return]
