"""An administrator removes people and writes out what is theirs; a team's admin does neither."""

import zipfile

import pytest

from assistants.models import AuditEntry, Thread, User
from tests.kit.browsers import signed_in
from tests.kit.turns import run_all

LIST = "/admin/assistants/user/"


@pytest.fixture
def root(ground):
    return User.objects.create_superuser("root", password="secret")


def act(who, action, *people, **more):
    chosen = {"action": action, "_selected_action": [each.pk for each in people], **more}
    return signed_in(who).post(LIST, chosen, follow=True)


def test_a_removed_person_leaves_no_conversation_and_no_name_in_the_log(ground, root):
    ground.open("Mine", owner=ground.bob)
    run_all()

    answer = signed_in(root).post(f"{LIST}{ground.bob.pk}/delete/", {"post": "yes"})

    assert answer.status_code == 302
    assert not User.objects.filter(username="bob").exists()
    assert not Thread.objects.exists()
    entry = AuditEntry.objects.get(action="person_removed")
    assert (entry.user, entry.target, entry.tenant) == (root, f"user {ground.bob.pk}", ground.apes)
    assert not any("bob" in f"{each.target}{each.detail}" for each in AuditEntry.objects.all())


def test_several_are_removed_at_once_by_the_same_way(ground, root):
    ground.open("Mine", owner=ground.bob)

    act(root, "delete_selected", ground.bob, ground.rita, post="yes")

    assert sorted(User.objects.values_list("username", flat=True)) == ["alice", "charlie", "root"]
    assert AuditEntry.objects.filter(action="person_removed").count() == 2


def test_an_administrator_does_not_remove_themselves_even_among_others(ground, root):
    User.objects.create_superuser("second", password="secret")

    answers = [
        signed_in(root).post(f"{LIST}{root.pk}/delete/", {"post": "yes"}),
        act(root, "delete_selected", ground.bob, root, post="yes"),
    ]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert User.objects.filter(pk__in=[root.pk, ground.bob.pk]).count() == 2


def test_everything_of_a_person_is_written_to_the_servers_disk_and_audited(ground, root, settings, tmp_path):
    settings.HOME = tmp_path
    ground.open("My words", owner=ground.bob)
    run_all()

    answer = act(root, "export_people", ground.bob)

    (file,) = (tmp_path / "exports").iterdir()
    assert f"Written to {file}." in answer.content.decode()
    assert "My words" not in answer.content.decode()
    with zipfile.ZipFile(file) as pack:
        assert any(b"My words" in pack.read(name) for name in pack.namelist())
    assert AuditEntry.objects.get(action="person_exported").user == root


def test_a_teams_admin_does_neither(ground, settings, tmp_path):
    settings.HOME = tmp_path
    User.objects.filter(pk=ground.alice.pk).update(is_staff=True)

    act(ground.alice, "export_people", ground.bob)
    act(ground.alice, "delete_selected", ground.bob, post="yes")
    removed = signed_in(ground.alice).post(f"{LIST}{ground.bob.pk}/delete/", {"post": "yes"})

    assert removed.status_code == 403
    assert User.objects.filter(pk=ground.bob.pk).exists()
    assert not (tmp_path / "exports").exists()


def test_how_long_a_team_keeps_its_conversations_is_set_in_its_form(ground, root):
    page = signed_in(root).get(f"/admin/assistants/tenant/{ground.apes.pk}/change/").content.decode()

    assert 'name="keep_days"' in page
