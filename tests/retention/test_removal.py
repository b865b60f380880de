"""Who goes leaves nothing behind but what the team must keep, and that without them (issue 5, item 7)."""

from io import StringIO

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import Sum

from assistants.errors import CodedError
from assistants.models import AuditEntry, SpendEntry, Thread, ToolCall, Turn, User
from assistants.retention.belongings import belongings_of
from assistants.retention.removal import plan_removal, remove_person
from subchats.models import ResearchInsight, ResearchSignal
from tests.kit.turns import commit_hooks
from tests.probes.town import record
from tests.retention import estate
from tests.retention.estate import NAMES, TEAMS, WORDS


@pytest.fixture
def left(ground, settings, tmp_path, monkeypatch):
    settings.EMAIL_FILE_PATH = tmp_path / "outbox"
    return estate.build(ground, monkeypatch, settings.EMAIL_FILE_PATH)


def remove(left):
    removal = remove_person(left.ground.alice, by=None, name="the test")
    commit_hooks()
    return removal


def test_the_estate_holds_a_row_of_every_model_that_can_name_a_person(left):
    """A new model with a person in it, or below a conversation, fails here until the estate and so the next test know it."""
    found = belongings_of(left.ground.alice)

    assert estate.kinds_that_name_people() - found.theirs.keys() - found.named.keys() == set()


def test_nothing_that_was_theirs_or_names_them_is_left_in_any_table(left):
    before = estate.leftovers(WORDS, but=TEAMS)
    assert len({table for table, _ in before}) > 12

    remove(left)

    assert estate.leftovers(WORDS, but=TEAMS) == []
    assert estate.leftovers(*NAMES) == []
    assert estate.who_points_at(left.number) == []
    assert not any(session.get_decoded().get("_auth_user_id") == str(left.number) for session in Session.objects.all())
    assert [file.name for file in left.outbox.iterdir()] == ["2.log"]


def test_what_the_team_must_keep_stays_without_them(left):
    spent = SpendEntry.objects.aggregate(tokens=Sum("tokens"), cost=Sum("cost"))
    audited = AuditEntry.objects.count()

    remove(left)

    assert SpendEntry.objects.aggregate(tokens=Sum("tokens"), cost=Sum("cost")) == spent
    assert set(SpendEntry.objects.filter(tokens__gte=1000).values_list("user", "turn", "root", "round")) == {
        (None, None, None, 0)
    }
    assert AuditEntry.objects.count() > audited
    assert AuditEntry.objects.get(action="user.changed").target == "somebody"
    assert AuditEntry.objects.get(action="user.changed").detail == {"name": "somebody (somebody)"}
    assert AuditEntry.objects.get(action="person_removed").target == f"user {left.number}"
    assert ResearchInsight.objects.get().score == 1
    assert not ResearchSignal.objects.exists()


def test_a_copy_that_somebody_else_made_stays_theirs_without_the_name(left):
    remove(left)

    fork = Thread.objects.get(pk=left.fork.pk)
    call = ToolCall.objects.get(turn__thread=fork)
    assert [each.text for each in fork.messages.order_by("sequence")] == ["Plain words", "Plain."]
    assert {each.author_id for each in fork.messages.all()} == {None}
    assert (call.settled_by, call.answer["by"], call.approval["by"]) == ("somebody", "somebody", "somebody")
    assert fork.turns.get().note == "Stopped by somebody."


def test_what_they_had_running_is_stopped(left):
    assert Turn.objects.active().filter(thread__owner=left.ground.alice).exists()

    remove(left)

    assert not Turn.objects.active().exists()


def test_what_others_have_is_untouched(left):
    theirs = Thread.objects.filter(owner=left.ground.bob).count(), User.objects.exclude(pk=left.number).count()

    remove(left)

    assert (Thread.objects.filter(owner=left.ground.bob).count(), User.objects.count()) == theirs


def test_a_dry_run_counts_what_would_go_and_changes_nothing(left):
    before, out = record(), StringIO()

    call_command("delete_user", NAMES[0], "--dry-run", stdout=out)

    assert record() == before
    removal = plan_removal(left.ground.alice)
    assert removal.removed["assistants.Thread"] == Thread.objects.filter(owner=left.ground.alice).count()
    assert f"{removal.removed['assistants.Message']:6} assistants.Message" in out.getvalue()
    assert removal.kept["assistants.SpendEntry"] == SpendEntry.objects.filter(user=left.ground.alice).count()


def test_the_command_asks_for_the_name_and_removes_only_then(left, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt: "bob")
    with pytest.raises(CommandError, match="Nothing was removed"):
        call_command("delete_user", NAMES[0], stdout=StringIO())
    assert User.objects.filter(pk=left.number).exists()

    monkeypatch.setattr("builtins.input", lambda prompt: NAMES[0])
    call_command("delete_user", NAMES[0], stdout=StringIO())

    assert not User.objects.filter(pk=left.number).exists()


def test_the_last_administrator_and_oneself_are_not_removed(ground):
    root = User.objects.create_superuser("root", password="secret")

    for by in (None, root):
        with pytest.raises(CodedError) as refused:
            remove_person(root, by=by, name="x")
        assert refused.value.code == ("REMOVES_ONESELF" if by else "LAST_ADMINISTRATOR")

    assert User.objects.filter(pk=root.pk, is_active=True).exists()


def test_a_name_that_is_part_of_a_word_stays_in_the_log(ground):
    short = User.objects.create_user("al", password="secret")
    AuditEntry.objects.create(action="x", target="also al and al-1", detail={"al": ["always", "al"]})

    remove_person(short, by=None, name="x")

    entry = AuditEntry.objects.get(action="x")
    assert (entry.target, entry.detail) == ("also somebody and somebody-1", {"al": ["always", "somebody"]})


def test_every_model_is_walked(left):
    """The look through the tables misses none: each model's rows are in one of them."""
    tables = {table for table, _ in estate.leftovers("")}

    empty = {model._meta.db_table for model in apps.get_models() if not model._default_manager.exists()}
    assert {model._meta.db_table for model in apps.get_models()} - tables <= empty
