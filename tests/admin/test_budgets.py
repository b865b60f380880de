"""Budgets and what was used of them, in the admin (section 7)."""

import pytest
from django.contrib.auth.models import Group

from assistants.models import AuditEntry, Budget, SpendEntry, User
from tests.kit import turns

from .forms import address


def data(**fields: object) -> dict[str, object]:
    return {"scope": "tenant", "user": "", "group": "", "assistant": "", "period": "month", "soft": "", "hard": "500"} | fields


def test_an_admin_limits_the_team_and_sees_what_was_used(alice, ground) -> None:
    assert alice.post(address("budget", "add"), data(soft="1", hard="100000")).status_code == 302
    ground.open("Hello")
    turns.run_all()

    page = alice.get(address("budget", "changelist")).content.decode()

    used = SpendEntry.objects.get().tokens
    assert Budget.objects.get().tenant == ground.apes
    assert f"{used:,} (notice given)" in alice.get(address("budget", "change", Budget.objects.get().pk)).content.decode()
    assert f"{used:,} (notice given)" in page
    assert AuditEntry.objects.filter(action="budget.added").exists()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"scope": "user"}, "do not go together"),
        ({"scope": "tenant", "user": "alice"}, "do not go together"),
        ({"hard": ""}, "Nothing is limited"),
        ({"soft": "600"}, "The notice would come after the pause"),
        ({"scope": "user", "user": "charlie"}, "Select a valid choice"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused_with_a_sentence(alice, ground, fields, words) -> None:
    fields = {name: User.objects.get(username=value).pk if name == "user" else value for name, value in fields.items()}

    page = alice.post(address("budget", "add"), data(**fields)).content.decode()

    assert words in page
    assert not Budget.objects.exists()


def test_s09_another_teams_budgets_and_spending_are_not_there(charlie, ground) -> None:
    budget = Budget.objects.create(tenant=ground.apes, hard=500)
    ground.open("Hello")
    turns.run_all()

    assert charlie.get(address("budget", "change", budget.pk)).status_code == 404
    assert "500" not in charlie.get(address("budget", "changelist")).content.decode()
    assert charlie.get(address("spendentry", "change", SpendEntry.objects.get().pk)).status_code == 404
    assert "lead" not in charlie.get(address("spendentry", "changelist")).content.decode().lower()


def test_the_ledger_shows_sums_by_day_and_can_not_be_changed(alice, ground) -> None:
    for _ in range(2):
        ground.open("Hello")
    turns.run_all()

    page = alice.get(address("spendentry", "changelist")).content.decode()

    total = sum(entry.tokens for entry in SpendEntry.objects.all())
    assert f'<td class="number">2</td><td class="number">{total}</td>' in page
    assert alice.get(address("spendentry", "change", SpendEntry.objects.first().pk)).status_code == 200
    assert alice.get(address("spendentry", "add")).status_code == 403
    assert alice.post(address("spendentry", "change", SpendEntry.objects.first().pk), {"tokens": 0}).status_code == 403


def test_groups_are_put_together_by_the_superuser_alone(alice, root, ground) -> None:
    assert alice.get("/admin/auth/group/add/").status_code == 403

    assert root.post("/admin/auth/group/add/", {"name": "Keepers", "members": [ground.bob.pk]}).status_code == 302

    assert list(Group.objects.get().user_set.all()) == [ground.bob]
    assert alice.get(address("budget", "add")).content.decode().count("Keepers") == 1
