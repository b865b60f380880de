"""Model profiles: the key goes in and stays in, and the connection can be tried."""

import json

import pytest

from assistants.models import AuditEntry, LLMProfile
from tests.kit.stub_llm import StubLLM, finish, say

from .forms import address, errors_of, profile_data

KEY = "sk-canary-0123456789"


@pytest.fixture
def profile(ground) -> LLMProfile:
    made = LLMProfile(tenant=ground.apes, name="Claude", provider="openai", model="m", base_url="https://models.example/v1")
    made.set_key(KEY)
    made.save()
    return made


def change(client, profile: LLMProfile, **changes):
    return client.post(address("llmprofile", "change", profile.pk), profile_data(profile, **changes))


def fresh(profile: LLMProfile) -> LLMProfile:
    return LLMProfile.objects.get(pk=profile.pk)


def test_s34_a_key_is_on_no_page_of_the_admin(ground, alice, root, profile) -> None:
    change(alice, profile, new_key=KEY + "-second")
    stored = fresh(profile).encrypted_key
    wrong = change(alice, profile, name="", new_key=KEY + "-third")

    for client in (alice, root):
        for page in (
            *(address("llmprofile", each) for each in ("changelist", "add")),
            *(address("llmprofile", each, profile.pk) for each in ("change", "history", "delete")),
            *(address("auditentry", "changelist"), "/admin/"),
        ):
            html = client.get(page, follow=True).content.decode()
            assert KEY not in html
            assert stored not in html
    assert KEY not in wrong.content.decode()
    assert KEY not in json.dumps(list(AuditEntry.objects.values_list("detail", flat=True)))


def test_s34_the_page_says_only_whether_there_is_a_key(ground, alice, root, profile, monkeypatch) -> None:
    def page(client=alice) -> str:
        return client.get(address("llmprofile", "change", profile.pk)).content.decode()

    assert "Set. It can be replaced or removed, but not shown." in page()

    change(alice, profile, remove_key="on")
    assert "Not set." in page()

    monkeypatch.setenv("APE_KEY", KEY)
    change(root, profile, key_variable="APE_KEY")
    assert "From the environment variable APE_KEY, which is set on this server." in page()
    assert KEY not in page()


def test_a_key_can_be_set_replaced_kept_and_removed(alice, profile) -> None:
    def stored() -> str:
        return fresh(profile).get_key()

    change(alice, profile, name="Renamed")
    assert stored() == KEY

    change(alice, profile, new_key="sk-new")
    assert stored() == "sk-new"

    change(alice, profile, remove_key="on")
    assert stored() == ""


@pytest.mark.parametrize("moved", [{"base_url": "https://evil.example/v1"}, {"provider": "anthropic"}, {"base_url": ""}])
def test_s36_a_key_does_not_move_to_another_server(alice, profile, moved) -> None:
    response = alice.post(address("llmprofile", "change", profile.pk), profile_data(profile, **moved), follow=True)

    assert fresh(profile).get_key() == ""
    assert "a key belongs to its server" in response.content.decode()
    assert {"key": "dropped"} in AuditEntry.objects.get(action="llmprofile.changed").detail["changes"]


def test_s36_a_key_that_is_entered_again_goes_to_the_new_server(alice, profile) -> None:
    change(alice, profile, base_url="https://other.example/v1", new_key="sk-other")

    assert fresh(profile).get_key() == "sk-other"


def test_s36_only_the_superuser_names_an_environment_variable(ground, alice, root, profile) -> None:
    change(alice, profile, key_variable="TASKMONKEY_SECRET_KEY")
    assert fresh(profile).key_variable == ""

    change(root, profile, key_variable="APE_KEY")
    assert fresh(profile).key_variable == "APE_KEY"


def test_s36_an_environment_variable_does_not_move_to_another_server_either(alice, root, profile) -> None:
    change(root, profile, key_variable="APE_KEY")
    profile.refresh_from_db()

    change(alice, profile, base_url="https://evil.example/v1")

    moved = fresh(profile)
    assert (moved.key_variable, moved.get_key()) == ("", "")


def test_s36_a_member_reaches_no_profile(bob, profile) -> None:
    response = change(bob, profile, base_url="https://evil.example/v1")

    assert response.status_code == 403
    assert fresh(profile).base_url == "https://models.example/v1"


def test_s34_a_filter_on_the_stored_key_is_refused(alice, profile) -> None:
    response = alice.get(address("llmprofile", "changelist", encrypted_key__startswith="g"))

    assert response.status_code in (302, 400)


@pytest.mark.parametrize(
    ("answers", "field"),
    [({"provider": "openai", "model": ""}, "model"), ({"provider": "local", "model": "m", "base_url": ""}, "base_url")],
)
def test_a_profile_asks_for_what_its_provider_needs(ground, alice, answers, field) -> None:
    response = alice.post(address("llmprofile", "add"), profile_data(**answers))

    assert field in errors_of(response)
    assert not LLMProfile.objects.filter(name="New").exists()


def test_an_address_without_a_scheme_gets_the_safe_one(ground, alice) -> None:
    alice.post(address("llmprofile", "add"), profile_data(base_url="models.example/v1"))

    assert LLMProfile.objects.get(name="New").base_url == "https://models.example/v1"


def test_the_page_says_what_each_provider_needs(ground, alice) -> None:
    page = alice.get(address("llmprofile", "add")).content.decode()

    for name in ("OpenAI-compatible, elsewhere", "Anthropic", "Google", "http://127.0.0.1:11434/v1", "Built-in engine"):
        assert name in page


def test_the_connection_is_tried_after_saving(ground, alice) -> None:
    with StubLLM() as stub:
        stub.script([say("OK"), finish("stop")])
        data = profile_data(provider="local", model="tiny", base_url=stub.url, _test="on")
        response = alice.post(address("llmprofile", "add"), data, follow=True)

    made = LLMProfile.objects.get(name="New")
    assert response.redirect_chain[-1][0] == address("llmprofile", "change", made.pk)
    assert "The connection works: tiny answered in" in response.content.decode()
    assert AuditEntry.objects.filter(action="llmprofile.tested", target=f"llmprofile {made.pk}").exists()


def test_a_connection_that_fails_is_a_plain_sentence(ground, alice, profile) -> None:
    data = profile_data(profile, provider="local", base_url="http://127.0.0.1:9/v1", new_key=KEY, _test="on")

    page = alice.post(address("llmprofile", "change", profile.pk), data, follow=True).content.decode()

    assert "cannot be reached" in page
    assert "Traceback" not in page
    assert KEY not in page


def test_the_list_tries_the_connections_that_were_chosen(ground, alice) -> None:
    built_in = LLMProfile.objects.create(tenant=ground.apes, name="Rules", provider="scripted", model="apes-lead")
    data = {"action": "test_connections", "_selected_action": [built_in.pk]}

    page = alice.post(address("llmprofile", "changelist"), data, follow=True).content.decode()

    assert "Rules: The connection works" in page


def test_changes_of_a_profile_are_noted_by_field(alice, profile) -> None:
    change(alice, profile, new_key="sk-new", total_seconds=60)

    entry = AuditEntry.objects.get(action="llmprofile.changed")
    assert entry.detail["changes"] == [{"changed": {"fields": ["New key", "Altogether"]}}]
