"""Tenants, their members, the people who sign in, and domains."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from assistants.models import Assistant, AuditEntry, Domain, LLMProfile, Membership, Tenant, User
from assistants.turns import lifecycle

from .forms import address, errors_of, tenant_data

NEW_USER = {"username": "dora", "password1": "correct horse battery", "password2": "correct horse battery", "role": "member"}


def members(tenant: Tenant) -> list[dict[str, object]]:
    rows = tenant.memberships.order_by("pk")
    return [{"id": row.pk, "user": row.user_id, "role": row.role} for row in rows]


def test_a_teams_admin_changes_its_name_and_the_roles_of_its_members(ground, alice) -> None:
    rows = members(ground.apes)
    rows[1]["role"] = "reader"

    response = alice.post(address("tenant", "change", ground.apes.pk), tenant_data(ground.apes, *rows, name="Great apes"))

    assert response.status_code == 302
    ground.apes.refresh_from_db()
    assert ground.apes.name == "Great apes"
    assert Membership.objects.get(user=ground.bob).role == "reader"
    entry = AuditEntry.objects.get(action="tenant.changed")
    assert "bob in Apes (Read-only)" in str(entry.detail) or "bob in Great apes (Read-only)" in str(entry.detail)


def test_a_member_is_removed_with_one_tick(ground, alice) -> None:
    rows = members(ground.apes)
    rows[1]["DELETE"] = "on"

    alice.post(address("tenant", "change", ground.apes.pk), tenant_data(ground.apes, *rows))

    assert not Membership.objects.filter(user=ground.bob).exists()


def test_s09_a_teams_admin_does_not_see_the_people_of_other_teams(ground, alice) -> None:
    stranger = {"user": ground.charlie.pk, "role": "member"}

    page = alice.get(address("tenant", "change", ground.apes.pk)).content.decode()
    alice.post(address("tenant", "change", ground.apes.pk), tenant_data(ground.apes, *members(ground.apes), stranger))

    assert "charlie" not in page
    assert not Membership.objects.filter(user=ground.charlie, tenant=ground.apes).exists()


@pytest.mark.parametrize("page", ["add", "delete"])
def test_s09_only_the_superuser_makes_and_deletes_teams(ground, alice, root, page) -> None:
    where = address("tenant", page, *([ground.apes.pk] if page == "delete" else []))
    new = tenant_data(Tenant(name="Cats", slug="cats"), post="yes")

    assert alice.post(where, new).status_code == 403
    assert AuditEntry.objects.filter(action="admin.refused", target=where).exists()
    assert root.post(where, new).status_code == 302
    assert Tenant.objects.filter(slug="cats").exists() == (page == "add")
    assert Tenant.objects.filter(slug="apes").exists() == (page == "add")


def test_a_deleted_team_leaves_a_note(ground, root) -> None:
    ground.open()

    root.post(address("tenant", "delete", ground.apes.pk), {"post": "yes"})

    entry = AuditEntry.objects.get(action="tenant.deleted")
    assert (entry.tenant, entry.detail) == (None, {"name": "Apes"})


def test_s09_the_default_model_of_a_team_is_one_of_its_own(ground, alice, root) -> None:
    foreign = LLMProfile.objects.create(tenant=ground.bears, name="Bear model", provider="builtin")
    sent = tenant_data(ground.apes, *members(ground.apes), default_profile=foreign.pk)

    assert alice.post(address("tenant", "change", ground.apes.pk), sent).status_code == 404
    assert "default_profile" in errors_of(root.post(address("tenant", "change", ground.apes.pk), sent))


def test_a_teams_admin_adds_a_person_to_their_team(ground, alice) -> None:
    response = alice.post(address("user", "add"), {**NEW_USER, "team": ground.apes.pk})

    assert response.status_code == 302
    dora = User.objects.get(username="dora")
    assert (dora.memberships.get().tenant, dora.memberships.get().role) == (ground.apes, "member")
    assert dora.check_password(NEW_USER["password1"])
    assert AuditEntry.objects.get(action="user.added").tenant == ground.apes
    assert Client().login(username="dora", password=NEW_USER["password1"])


def test_s09_nobody_is_added_to_another_team_or_made_staff(ground, alice) -> None:
    elsewhere = alice.post(address("user", "add"), {**NEW_USER, "team": ground.bears.pk})
    alice.post(address("user", "add"), {**NEW_USER, "team": ground.apes.pk, "is_staff": "on", "is_superuser": "on"})

    assert "team" in errors_of(elsewhere)
    dora = User.objects.get(username="dora")
    assert (dora.is_staff, dora.is_superuser) == (False, False)


def test_s09_a_teams_admin_can_not_take_over_an_account(ground, alice) -> None:
    password = {"password1": "taken over by alice", "password2": "taken over by alice", "usable_password": "true"}

    changed = alice.post(address("user", "change", ground.bob.pk), {"username": "bob", "email": "alice@example.org"})
    deleted = alice.post(address("user", "delete", ground.bob.pk), {"post": "yes"})
    reset = alice.post(f"/admin/assistants/user/{ground.bob.pk}/password/", password)
    foreign = alice.post(f"/admin/assistants/user/{ground.charlie.pk}/password/", password)

    assert [changed.status_code, deleted.status_code, reset.status_code, foreign.status_code] == [403, 403, 403, 404]
    ground.bob.refresh_from_db()
    assert ground.bob.check_password("secret") and not ground.bob.email
    assert AuditEntry.objects.filter(action="admin.refused").count() == 4


def test_a_teams_admin_sees_people_without_their_passwords_and_other_teams(ground, alice) -> None:
    Membership.objects.create(user=ground.bob, tenant=ground.bears)

    person = alice.get(address("user", "change", ground.bob.pk)).content.decode()
    listed = alice.get(address("user", "changelist")).content.decode()

    assert "bob" in person
    assert "md5" not in person
    assert "Apes (Member)" in listed
    assert "Bears" not in listed
    assert "charlie" not in listed


def test_the_superuser_sets_a_password_which_ends_the_other_sessions(ground, root, bob) -> None:
    assert bob.get("/").status_code == 200
    new = {"password1": "a new one for bob", "password2": "a new one for bob", "usable_password": "true"}

    response = root.post(f"/admin/assistants/user/{ground.bob.pk}/password/", {**new, "set-password": "1"})

    assert response.status_code == 302
    ground.bob.refresh_from_db()
    assert ground.bob.check_password("a new one for bob")
    assert bob.get("/", follow=True).request["PATH_INFO"] == "/login/"
    assert AuditEntry.objects.filter(action="user.changed", target=f"user {ground.bob.pk}").exists()


def test_the_superuser_changes_and_deletes_accounts(ground, root) -> None:
    lifecycle.open_thread(ground.lead, owner=ground.bob, text="Hello")
    sent = {"username": "bob", "is_active": "on", "is_staff": "on", "theme": "dark"}

    assert root.post(address("user", "change", ground.bob.pk), sent).status_code == 302
    ground.bob.refresh_from_db()
    assert (ground.bob.is_staff, ground.bob.theme) == (True, "dark")
    assert root.post(address("user", "delete", ground.bob.pk), {"post": "yes"}).status_code == 302
    assert not User.objects.filter(username="bob").exists()


def test_groups_and_model_permissions_play_no_part(ground, bob, root) -> None:
    """A group is who shares a budget, and nothing else."""
    mighty = Group.objects.create(name="Mighty")
    mighty.permissions.set(Permission.objects.all())
    ground.bob.groups.add(mighty)
    ground.bob.is_staff = True
    ground.bob.save()

    assert bob.get(address("assistant", "changelist")).status_code == 403
    assert bob.get("/admin/auth/group/").status_code == 403
    assert b"permissions" not in root.get(f"/admin/auth/group/{mighty.pk}/change/").content


def test_a_domain_is_led_by_one_of_its_own(ground, alice) -> None:
    work = Domain.objects.create(tenant=ground.apes, slug="work", name="Work")
    law = ground.assistant("law", domain=work)
    sent = {"name": "Work", "slug": "work", "description": ""}

    outside = alice.post(address("domain", "change", work.pk), {**sent, "supervisor": ground.lead.pk})
    inside = alice.post(address("domain", "change", work.pk), {**sent, "supervisor": law.pk})

    assert "supervisor" in errors_of(outside)
    assert inside.status_code == 302
    assert Domain.objects.get().supervisor == law


def test_a_domain_is_added_without_a_supervisor_and_deleted_without_its_assistants(ground, alice) -> None:
    alice.post(address("domain", "add"), {"name": "Work", "slug": "work", "description": ""})
    work = Domain.objects.get()
    law = ground.assistant("law", domain=work)

    alice.post(address("domain", "delete", work.pk), {"post": "yes"})

    assert work.tenant == ground.apes
    assert Assistant.objects.get(pk=law.pk).domain is None
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == ["domain.added", "domain.deleted"]
