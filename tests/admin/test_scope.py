"""Who sees, and who may change, what in the admin (S09)."""

import pytest
from django.test import Client

from assistants.models import Assistant, AuditEntry, DocumentRoot, Domain, LLMProfile, Thread, Turn

from .forms import address, assistant_data, change_assistant

SCOPED = ("tenant", "llmprofile", "assistant", "domain", "documentroot", "thread", "turn", "user")


@pytest.fixture
def bears(ground) -> dict[str, object]:
    """One of everything that belongs to the bears."""
    guide = ground.assistant("guide", tenant=ground.bears)
    thread = Thread.objects.create(tenant=ground.bears, owner=ground.charlie, assistant=guide, title="Bear talk")
    return {
        "tenant": ground.bears,
        "assistant": guide,
        "llmprofile": LLMProfile.objects.create(tenant=ground.bears, name="Bear model", provider="builtin"),
        "domain": Domain.objects.create(tenant=ground.bears, slug="woods", name="Woods of the bears"),
        "documentroot": DocumentRoot.objects.create(tenant=ground.bears, name="Bear papers", path="/"),
        "thread": thread,
        "turn": Turn.objects.create(thread=thread, profile_label="bear-label"),
        "user": ground.charlie,
    }


@pytest.mark.parametrize("model", SCOPED)
@pytest.mark.parametrize("page", ["change", "delete", "history"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_s09_another_tenants_object_is_not_there_and_the_attempt_is_noted(alice, bears, model, page, method) -> None:
    target = bears[model]

    response = getattr(alice, method)(address(model, page, target.pk), {"post": "yes"})

    assert response.status_code == 404
    assert type(target).objects.filter(pk=target.pk).exists()
    entry = AuditEntry.objects.get(action="admin.refused")
    assert (entry.user.username, entry.target, entry.tenant.slug) == ("alice", f"{model} {target.pk}", "bears")


@pytest.mark.parametrize("model", SCOPED)
def test_s09_a_list_shows_ones_own_tenants_only(ground, alice, bears, model) -> None:
    ground.open()

    response = alice.get(address(model, "changelist"))

    assert response.status_code == 200
    listed = set(response.context["cl"].result_list.values_list("pk", flat=True))
    assert bears[model].pk not in listed
    assert "bear" not in response.content.decode().lower()


def test_s09_the_list_of_the_audit_shows_ones_own_tenants_only(ground, alice) -> None:
    AuditEntry.objects.create(tenant=ground.bears, action="bear.secret")
    AuditEntry.objects.create(tenant=None, action="site.secret")
    AuditEntry.objects.create(tenant=ground.apes, action="ape.news")

    page = alice.get(address("auditentry", "changelist")).content.decode()

    assert "ape.news" in page
    assert "secret" not in page


@pytest.mark.parametrize("field", ["profile", "domain", "delegates"])
def test_s09_another_tenants_number_in_a_form_is_not_there_and_is_noted(ground, alice, bears, field) -> None:
    foreign = bears[{"profile": "llmprofile", "domain": "domain", "delegates": "assistant"}[field]]

    response = change_assistant(alice, ground.lead, **{field: foreign.pk})

    assert response.status_code == 404
    assert AuditEntry.objects.get(action="admin.refused").tenant == ground.bears
    assert getattr(Assistant.objects.get(pk=ground.lead.pk), field) != foreign


def test_s09_a_form_offers_nothing_of_another_tenant(ground, alice, bears) -> None:
    page = alice.get(address("assistant", "change", ground.lead.pk)).content.decode()

    assert "Woods of the bears" not in page
    assert "Bear model" not in page
    assert "Guide" not in page


def test_s09_an_action_on_another_tenants_object_is_refused_as_a_whole(ground, alice, bears) -> None:
    own = ground.assistant("own")
    data = {"action": "delete_selected", "_selected_action": [own.pk, bears["assistant"].pk], "post": "yes"}

    response = alice.post(address("assistant", "changelist"), data)

    assert response.status_code == 404
    assert Assistant.objects.filter(slug__in=["own", "guide"]).count() == 2
    assert AuditEntry.objects.filter(action="admin.refused").count() == 1


def test_s09_nothing_can_be_added_to_another_tenant(ground, alice) -> None:
    for send in (
        {"path": address("assistant", "add", tenant=ground.bears.pk), "data": assistant_data()},
        {"path": address("assistant", "add"), "data": assistant_data(tenant=ground.bears.pk)},
    ):
        assert alice.post(**send).status_code == 404

    assert not Assistant.objects.filter(slug="new").exists()
    assert AuditEntry.objects.filter(action="admin.refused", tenant=ground.bears).count() == 2


def test_s07_a_tenant_in_the_form_moves_nothing_to_another_tenant(ground, alice) -> None:
    response = change_assistant(alice, ground.lead, tenant=ground.bears.pk)

    assert response.status_code == 302
    assert Assistant.objects.get(pk=ground.lead.pk).tenant == ground.apes


@pytest.mark.parametrize("path", ["/admin/", "/admin/assistants/assistant/", "/admin/assistants/auditentry/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_s09_a_member_is_refused_and_noted(bob, path, method) -> None:
    response = getattr(bob, method)(path)

    assert response.status_code == 403
    entry = AuditEntry.objects.get(action="admin.refused")
    assert (entry.user.username, entry.target, entry.detail["method"]) == ("bob", path, method.upper())


def test_a_refusal_is_one_line_in_the_log(bob, caplog) -> None:
    bob.get("/admin/assistants/assistant/")

    (line,) = [each for each in caplog.records if each.name == "django.request"]
    assert line.exc_info is None and line.getMessage() == "Forbidden: /admin/assistants/assistant/"


def test_s09_staff_without_a_tenant_to_manage_sees_nothing(ground, bob) -> None:
    ground.bob.is_staff = True
    ground.bob.save()

    assert bob.get("/admin/").context["app_list"] == []
    assert bob.get(address("assistant", "changelist")).status_code == 403
    assert change_assistant(bob, ground.lead, name="Mine").status_code == 404


def test_s08_rights_end_with_the_role(ground, alice) -> None:
    assert alice.get(address("assistant", "change", ground.lead.pk)).status_code == 200

    ground.alice.memberships.update(role="member")

    assert alice.get(address("assistant", "change", ground.lead.pk)).status_code == 404


def test_a_stranger_is_led_to_the_one_sign_in_page(db) -> None:
    response = Client().get("/admin/assistants/assistant/", follow=True)

    assert response.redirect_chain[-1][0] == "/login/?next=/admin/assistants/assistant/"


def test_root_sees_every_tenant_and_chooses_one_before_adding(ground, root, bears) -> None:
    page = root.get(address("assistant", "changelist")).content.decode()
    choice = root.get(address("assistant", "add"))

    assert "Guide" in page
    assert "Lead" in page
    assert f"?tenant={ground.bears.pk}" in choice.content.decode()
    assert root.post(address("assistant", "add"), assistant_data()).status_code == 403
    assert root.post(address("assistant", "add", tenant=ground.bears.pk), assistant_data()).status_code == 302
    assert Assistant.objects.get(slug="new").tenant == ground.bears


@pytest.mark.parametrize("number", ["0", "999999", "x", "-1"])
def test_a_number_that_leads_nowhere_is_a_plain_404(alice, number) -> None:
    assert alice.get(f"/admin/assistants/assistant/{number}/change/").status_code == 404
    assert alice.get(f"/admin/assistants/assistant/add/?tenant={number}").status_code == 404


def test_s24_no_admin_page_holds_script_or_style_of_its_own(ground, root) -> None:
    thread = ground.open()
    pages = [
        "/admin/",
        address("assistant", "changelist"),
        address("assistant", "change", ground.lead.pk),
        address("llmprofile", "add", tenant=ground.apes.pk),
        address("tenant", "change", ground.apes.pk),
        address("thread", "change", thread.pk),
        address("turn", "change", thread.turns.get().pk),
        address("user", "change", ground.bob.pk),
    ]
    for page in pages:
        response = root.get(page)
        html = response.content.decode()
        assert response.status_code == 200
        assert "script-src 'self'" in response.headers["Content-Security-Policy"]
        assert all("src=" in tag for tag in html.split("<script")[1:] for tag in [tag.partition(">")[0]])
        assert "<style" not in html
        assert " style=" not in html
        assert " onclick=" not in html
