"""What anybody may learn of documents and research from outside: a word for each category (A-41, A-42)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from assistants import clock
from assistants import health as parts
from assistants.models import Assistant, DocumentRoot, LLMProfile
from subchats import health
from subchats.research.explorers import get_explorer
from tests.kit.world import World


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each look is a new one, as if time had passed."""
    monkeypatch.setattr(parts, "KEPT_SECONDS", -1.0)
    monkeypatch.setattr(health, "KEPT_SECONDS", -1.0)
    yield
    health.forget()


@pytest.fixture
def scout(ground: World) -> Assistant:
    return ground.assistant("scout", tools=["subagent", "emit_autorag_results"], research=True)


def told(client: Client) -> dict[str, Any]:
    return dict(client.get("/healthz?parts").json()["parts"])


def test_a41_each_category_is_ok_where_nothing_is_wrong(client: Client, scout: Assistant) -> None:
    found = told(client)

    names = [name for name in found if name.startswith("research.")]
    assert names == ["research.auth_missing", "research.config", "research.model_resolution", "research.subagent_failed"]
    assert {found[name] for name in [*names, "documents"]} == {"ok"}
    assert client.get("/healthz").json() == {"ok": True}


def test_a41_a_missing_key_a_missing_model_and_a_changed_explorer_each_show(client: Client, scout: Assistant) -> None:
    def shown() -> set[str]:
        return {name for name, state in told(client).items() if state == "degraded" and name.startswith("research.")}

    profile = LLMProfile.objects.create(tenant=scout.tenant, name="out", provider="openai", model="m")
    scout.profile = profile
    scout.save()
    keyless = shown()
    profile.provider, profile.model = "local", ""
    profile.save()
    modelless = shown()
    explorer = get_explorer(scout.tenant)
    explorer.instructions = "Changed."
    explorer.save()

    assert keyless == {"research.auth_missing"}
    assert modelless == {"research.model_resolution"}
    assert "research.subagent_failed" in shown()


def test_a41_a_folder_that_can_not_be_read_shows_and_one_that_is_being_read_does_not(client: Client, ground: World) -> None:
    root = DocumentRoot.objects.create(tenant=ground.apes, name="Salaries", path="/srv/salaries")
    unread = told(client)["documents"]
    root.report = {"progress": {"done": 1, "total": 9, "at": clock.now().isoformat()}}
    root.save()
    reading = told(client)["documents"]
    root.report = {"progress": {"done": 1, "total": 9, "at": (clock.now() - timedelta(minutes=5)).isoformat()}}
    root.save()
    broken_off = told(client)["documents"]
    root.report = {"problem": "/srv/salaries is not there"}
    root.save()

    assert (unread, reading, broken_off, told(client)["documents"]) == ("ok", "ok", "degraded", "degraded")


def test_a41_s10_nobody_learns_a_name_a_path_or_a_reason(client: Client, scout: Assistant) -> None:
    DocumentRoot.objects.create(tenant=scout.tenant, name="Salaries", path="/srv/x", report={"problem": "/srv/x is gone"})
    scout.tools = []
    scout.save()

    for address in ("/healthz", "/healthz?parts", "/readyz"):
        body = client.get(address).content.decode()
        assert not any(word in body for word in ("Salaries", "/srv", "scout", "apes", "gone", "lacks"))


def test_a41_a_team_whose_research_is_ill_keeps_nobody_from_being_served(client: Client, scout: Assistant) -> None:
    scout.tools = []
    scout.save()

    answer = client.get("/readyz")

    assert answer.status_code == 200 and "research.subagent_failed" in answer.json()["degraded"]


def test_a41_no_model_is_asked_and_the_look_is_kept_for_a_while(
    client: Client, scout: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[bool] = []
    monkeypatch.setattr(health, "KEPT_SECONDS", 30.0)
    real = health.check_researcher

    def counted(researcher: Assistant, *, skip_probes: bool) -> Any:
        looks.append(skip_probes)
        return real(researcher, skip_probes=skip_probes)

    monkeypatch.setattr(health, "check_researcher", counted)
    for _ in range(3):
        told(client)

    assert looks == [True]
