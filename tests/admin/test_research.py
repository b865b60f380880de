"""Research in the admin: the check, the explorer's Restore and Accept, grants of sources, and the save rule."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from assistants.errors import CodedError
from assistants.models import Assistant, AuditEntry, DocumentRoot
from assistants.setup.versions import save_assistant
from subchats.checks import check_research
from subchats.models import DatasourceGrant, LocalDiscovery, ManagedExplorer
from subchats.research.explorers import get_explorer
from subchats.research.health import CATEGORIES
from tests.kit.stub_llm import KEY, StubLLM, status

from .forms import change_assistant, errors_of

TOOLS = ["subagent", "emit_autorag_results"]


@pytest.fixture
def papers(ground, tmp_path: Path) -> DocumentRoot:
    return DocumentRoot.objects.create(tenant=ground.apes, name="Papers", path=str(tmp_path))


@pytest.fixture
def scout(ground, papers) -> Assistant:
    return ground.assistant("scout", tools=TOOLS, research=True)


def page(assistant: Assistant, action: str = "") -> str:
    if action:
        return reverse("admin:assistant_explorer", args=[assistant.pk, action])
    return reverse("admin:assistant_research", args=[assistant.pk])


def subchats(model: str, name: str, *args: object, tenant: object = None) -> str:
    where = reverse(f"admin:subchats_{model}_{name}", args=args)
    return f"{where}?tenant={tenant}" if tenant else where


# --- the check
def test_a41_the_page_shows_the_eight_categories_in_their_order_and_asks_nobody_by_itself(alice, scout) -> None:
    looked = alice.get(page(scout))
    asked = alice.post(page(scout))

    body = looked.content.decode()
    places = [body.index(f"<td><code>{category}</code>") for category in CATEGORIES]
    assert places == sorted(places)
    assert looked.context["health"].probes_skipped and not asked.context["health"].probes_skipped
    assert [row.state for row in asked.context["rows"]] == ["clear"] * 8
    assert [row.state for row in looked.context["rows"]] == ["clear"] * 3 + ["open"] * 3 + ["clear"] * 2
    assert not ManagedExplorer.objects.exists()
    assert AuditEntry.objects.get(action="assistant.research_checked").detail == {"category": "ok"}


def test_a41_it_says_the_same_as_the_command_and_no_key(alice, scout, settings, tmp_path, capsys) -> None:
    settings.HOME = tmp_path
    with StubLLM() as stub:
        stub.script_forever([status(401, body={"error": {"message": f"bad key {KEY}"}})])
        connect(scout, stub.url)
        answer = alice.post(page(scout))
        with pytest.raises(SystemExit):
            call_command("health", "--tenant", "apes", "--json")

    assert answer.context["health"].category == "auth_missing"
    assert '"category": "auth_missing"' in capsys.readouterr().out
    assert KEY not in answer.content.decode()


def connect(assistant: Assistant, address: str) -> None:
    from assistants.models import LLMProfile

    profile = LLMProfile(tenant=assistant.tenant, name="out", provider="openai", model="stub", base_url=address)
    profile.set_key(KEY)
    profile.save()
    assistant.profile = profile
    assistant.save()


def test_a41_s09_nobody_else_sees_or_presses_anything(ground, scout, bob, charlie, root) -> None:
    get_explorer(ground.apes)
    for action in ("", "restore", "accept"):
        for method in ("get", "post"):
            assert getattr(charlie, method)(page(scout, action)).status_code in (404, 405)
            assert getattr(bob, method)(page(scout, action)).status_code in (302, 403, 405)
    assert AuditEntry.objects.filter(action="admin.refused").exists()
    assert root.get(page(scout)).status_code == 200


def test_a41_an_assistant_that_does_no_research_has_no_such_page(alice, ground, scout) -> None:
    def form(assistant: Assistant) -> str:
        return alice.get(reverse("admin:assistants_assistant_change", args=[assistant.pk])).content.decode()

    assert alice.get(page(ground.lead)).status_code == 404
    assert page(scout) in form(scout) and page(ground.lead) not in form(ground.lead)


# --- the explorer
def test_a31_a_changed_explorer_is_restored_or_accepted_by_a_button(alice, ground, scout) -> None:
    explorer = get_explorer(ground.apes)
    explorer.instructions = "Do as the documents say."
    explorer.save()

    changed = alice.get(page(scout))
    alice.post(page(scout, "accept"))
    accepted = get_explorer(ground.apes).instructions
    alice.post(page(explorer, "restore"))
    restored = get_explorer(ground.apes)

    assert changed.context["health"].category == "subagent_failed" and changed.context["explorer"].problem
    assert accepted == "Do as the documents say."
    assert "You are an explorer" in restored.instructions
    done = AuditEntry.objects.filter(action__startswith="assistant.explorer_", user=ground.alice).order_by("pk")
    assert [each.action for each in done] == ["assistant.explorer_accepted", "assistant.explorer_restored"]


def test_a31_looking_changes_nothing_and_an_unknown_action_is_a_404(alice, ground, scout) -> None:
    get_explorer(ground.apes)

    assert alice.get(page(scout, "accept")).status_code == 405
    assert alice.post(page(scout, "delete")).status_code == 404


def test_a31_where_there_is_none_to_accept_it_says_so(alice, scout) -> None:
    answer = alice.post(page(scout, "accept"), follow=True)

    assert any("not the managed one" in str(each) for each in answer.context["messages"])


# --- the save rule
@pytest.mark.parametrize(
    ("tools", "folder", "changed", "field"),
    [
        (["subagent"], True, False, "tools"),
        ([], True, False, "tools"),
        (TOOLS, False, False, "research"),
        (TOOLS, True, True, "research"),
    ],
)
def test_a02_an_assistant_that_could_not_research_is_refused_on_save(
    alice, ground, papers, tools, folder, changed, field
) -> None:
    if changed:
        explorer = get_explorer(ground.apes)
        explorer.instructions = "Changed."
        explorer.save()
    if not folder:
        papers.delete()

    answer = change_assistant(alice, ground.lead, tools=tools, research="on")

    assert field in errors_of(answer) and not Assistant.objects.get(pk=ground.lead.pk).research


def test_a02_one_that_can_is_saved_and_so_is_one_that_is_switched_off(alice, ground, papers) -> None:
    assert change_assistant(alice, ground.lead, tools=TOOLS, research="on").status_code == 302
    papers.delete()
    assert change_assistant(alice, ground.lead, tools=TOOLS, research="on", enabled=False).status_code == 302


def test_a02_the_rule_holds_for_programs_too_and_the_check_finds_what_slipped_by(ground, papers) -> None:
    scout = Assistant(tenant=ground.apes, slug="scout", name="Scout", instructions="Look.", research=True, tools=["subagent"])
    with pytest.raises(CodedError) as raised:
        save_assistant(scout, delegates=(), by=None)
    assert (raised.value.code, bool(raised.value.fix)) == ("RESEARCH_TOOLS", True)

    assert check_research() == []
    scout.save()
    papers.delete()
    assert [message.id for message in check_research()] == ["subchats.W003"] * 2
    assert all(message.hint for message in check_research())


# --- grants and the local discovery
def grant_data(scout: Assistant, **changes: Any) -> dict[str, Any]:
    return {"assistant": scout.pk, "source": "conversations", "tags": ["own"], "scopes": "lead", **changes}


def test_a36_an_admin_grants_a_source(alice, ground, scout) -> None:
    answer = alice.post(subchats("datasourcegrant", "add", tenant=ground.apes.pk), grant_data(scout))

    assert answer.status_code == 302, errors_of(answer)
    made = DatasourceGrant.objects.get()
    assert (made.tenant, made.assistant, made.tags, made.scopes) == (ground.apes, scout, ["own"], ["lead"])
    assert AuditEntry.objects.filter(action="datasourcegrant.added", tenant=ground.apes).exists()
    assert "own (lead)" in alice.get(subchats("datasourcegrant", "changelist")).content.decode()


@pytest.mark.parametrize(
    ("changes", "field"), [({"tags": ["all"]}, "tags"), ({"scopes": "nobody"}, "scopes"), ({"source": "wiki"}, "source")]
)
def test_a36_a_grant_names_only_what_there_is(alice, ground, scout, changes, field) -> None:
    answer = alice.post(subchats("datasourcegrant", "add", tenant=ground.apes.pk), grant_data(scout, **changes))

    assert field in errors_of(answer) and not DatasourceGrant.objects.exists()


def test_a36_s09_another_teams_admin_grants_nothing_here(charlie, ground, scout) -> None:
    made = DatasourceGrant.objects.create(tenant=ground.apes, assistant=scout, source="conversations", tags=["own"])

    added = charlie.post(subchats("datasourcegrant", "add", tenant=ground.bears.pk), grant_data(scout))
    changed = charlie.post(subchats("datasourcegrant", "change", made.pk), grant_data(scout, tags=["own", "shared"]))

    assert (added.status_code, changed.status_code) == (404, 404)
    assert DatasourceGrant.objects.get().tags == ["own"]


def test_a35_only_the_superuser_names_a_command_and_a_teams_admin_switches_it(alice, ground, root) -> None:
    data = {"command": "/bin/echo {root} {query}", "enabled": "on"}
    refused = alice.post(subchats("localdiscovery", "add", tenant=ground.apes.pk), data)
    wrong = root.post(subchats("localdiscovery", "add", tenant=ground.apes.pk), {"command": "echo hello"})
    added = root.post(subchats("localdiscovery", "add", tenant=ground.apes.pk), data)
    row = LocalDiscovery.objects.get()
    alice.post(subchats("localdiscovery", "change", row.pk), {"command": "/bin/sh {root} {query}"})

    assert (refused.status_code, added.status_code) == (403, 302) and "command" in errors_of(wrong)
    row.refresh_from_db()
    assert (row.command, row.enabled) == ("/bin/echo {root} {query}", False)
