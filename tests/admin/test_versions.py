"""Every change of an assistant is kept, can be read, and can be undone."""

import pytest
from django.urls import reverse

from assistants.errors import CodedError
from assistants.models import Assistant, AuditEntry, Domain, LLMProfile
from assistants.setup.differences import Line, compare
from assistants.setup.versions import describe, restore_version, save_assistant

from .forms import address, change_assistant, errors_of


def restore(client, assistant: Assistant, number: int):
    return client.post(reverse("admin:assistant_restore", args=[assistant.pk, number]), follow=True)


def test_every_change_makes_one_version_with_the_whole_definition(ground, alice) -> None:
    law = ground.assistant("law")

    change_assistant(alice, law, instructions="One.")
    change_assistant(alice, law, instructions="Two.", tools=["current_time"], delegates=[ground.lead.pk])

    law.refresh_from_db()
    before, one, two = law.versions.order_by("number")
    assert [before.number, one.number, two.number] == [1, 2, 3] and law.version == 3
    assert (before.changed_by, one.changed_by, two.changed_by) == (None, ground.alice, ground.alice)
    assert (before.definition["instructions"], one.definition["instructions"]) == ("You are law.", "One.")
    assert (two.definition["tools"], two.definition["delegates"]) == (["current_time"], ["lead"])
    assert two.definition == describe(law)


def test_saving_without_a_change_makes_no_version(ground, alice) -> None:
    change_assistant(alice, ground.lead, instructions="One.")

    change_assistant(alice, ground.lead, instructions="One.")

    ground.lead.refresh_from_db()
    assert (ground.lead.versions.count(), ground.lead.version) == (2, 2)


def test_a_refused_change_makes_no_version(ground, alice) -> None:
    change_assistant(alice, ground.lead, tools=["rm_rf"])

    assert not ground.lead.versions.exists()


def test_a_new_assistant_starts_with_its_first_version(ground) -> None:
    new = Assistant(tenant=ground.apes, slug="new", name="New", instructions="x")

    made = save_assistant(new, delegates=[ground.lead], by=None)

    assert (made.number, new.version, made.definition["delegates"]) == (1, 1, ["lead"])


def test_the_list_of_versions_says_what_changed(ground, alice) -> None:
    law = ground.assistant("law", instructions="Be brief.\nName the paragraph.\nNever guess.")
    change_assistant(alice, law, instructions="Be brief.\nQuote the paragraph.\nNever guess.", public="on")

    page = alice.get(reverse("admin:assistant_versions", args=[law.pk])).content.decode()

    assert "<del>Name the paragraph.</del><ins>Quote the paragraph.</ins>" in page
    assert "<del>no</del><ins>yes</ins>" in page
    assert "Restore version 1" in page
    assert "Restore version 2" not in page


def test_a_difference_shows_lines_with_what_is_around_them() -> None:
    old = {"instructions": "a\nb\nc\nd\ne\nf\n-- g", "tools": ["x"], "name": "N", "public": False}
    new = {"instructions": "a\nb\nc\nD\ne\nf", "tools": ["x", "y"], "name": "N", "unknown": 1}

    changes = {change.label: change.lines for change in compare(old, new)}

    assert changes["Instructions"] == (
        *(Line("", "c"), Line("-", "d"), Line("+", "D"), Line("", "e")),
        *(Line("", "f"), Line("-", "-- g")),
    )
    assert changes["Tools"] == (Line("", "x"), Line("+", "y"))
    assert set(changes) == {"Instructions", "Tools"}


def test_a_restored_version_is_a_new_version(ground, alice) -> None:
    prices, profile = ground.assistant("prices"), LLMProfile.objects.create(tenant=ground.apes, name="Own", provider="builtin")
    work = Domain.objects.create(tenant=ground.apes, slug="work", name="Work")
    law = ground.assistant("law", tools=["current_time"], profile=profile, domain=work, starters=["Hi"])
    law.delegates.add(prices)
    change_assistant(
        alice, law, instructions="Worse.", tools=[], delegates=[], profile="", domain="", starters="", slug="lex", enabled=False
    )

    response = restore(alice, law, 1)

    law.refresh_from_db()
    assert "It is version 3 now." in response.content.decode()
    assert (law.instructions, law.tools, law.starters, law.slug) == ("You are law.", ["current_time"], ["Hi"], "law")
    assert (law.profile, law.domain, list(law.delegates.all()), law.enabled) == (profile, work, [prices], True)
    assert [each.number for each in law.versions.all()] == [3, 2, 1] and law.version == 3
    assert law.versions.first().definition == law.versions.last().definition
    entry = AuditEntry.objects.get(action="assistant.restored")
    assert (entry.user, entry.target, entry.detail["version"]) == (ground.alice, f"assistant {law.pk}", 1)


def test_how_it_plans_and_its_limits_are_kept_and_restored(ground, alice) -> None:
    team = {"plan_gate": "always", "plan_approval": "person", "turn_tokens": 5000, "idle_seconds": 30, "wall_seconds": 300}
    law = ground.assistant("law", **team, approve_tools=["fetch_url"])
    default = {"plan_gate": "fanout", "plan_approval": "none", "turn_tokens": "", "idle_seconds": "", "wall_seconds": ""}
    change_assistant(alice, law, **default)
    law.refresh_from_db()
    assert (law.plan_gate, law.plan_approval) == ("fanout", "none")
    assert (law.turn_tokens, law.idle_seconds, law.wall_seconds) == (None, None, None)

    page = restore(alice, law, 1)

    law.refresh_from_db()
    assert page.status_code == 200
    assert {field: getattr(law, field) for field in team} == team and law.approve_tools == ["fetch_url"]


@pytest.mark.parametrize("field", ["turn_tokens", "idle_seconds", "wall_seconds"])
def test_a_limit_of_nothing_is_refused(ground, alice, field) -> None:
    answer = change_assistant(alice, ground.lead, **{field: 0})

    assert field in errors_of(answer)


def test_what_no_longer_exists_is_left_out_of_a_restored_version_and_named(ground, alice) -> None:
    profile = LLMProfile.objects.create(tenant=ground.apes, name="Old model", provider="builtin")
    law, prices = ground.assistant("law", profile=profile), ground.assistant("prices")
    law.delegates.add(prices)
    change_assistant(alice, law, delegates=[], profile="")
    prices.delete()
    profile.delete()

    page = restore(alice, law, 1).content.decode()

    assert "No longer there, so left out: Old model, prices." in page
    assert not Assistant.objects.get(pk=law.pk).delegates.exists()


def test_t03_a_version_that_breaks_a_rule_by_now_is_not_restored(ground, alice) -> None:
    law = ground.assistant("law", tools=["invoke_assistant"], public=True)
    change_assistant(alice, law, tools=["current_time"])

    page = restore(alice, law, 1).content.decode()

    law.refresh_from_db()
    assert "A public assistant can&#x27;t have invoke_assistant" in page
    assert (law.tools, law.version) == (["current_time"], 2)


def test_a_version_whose_short_name_is_taken_by_now_is_not_restored(ground, alice) -> None:
    law = ground.assistant("law")
    change_assistant(alice, law, slug="lex")
    ground.assistant("law")

    with pytest.raises(CodedError) as refusal:
        restore_version(law.versions.get(number=1), by=ground.alice)

    assert refusal.value.code == "SLUG_TAKEN"
    assert Assistant.objects.get(pk=law.pk).slug == "lex"


def test_s09_another_tenants_versions_are_neither_shown_nor_restored(ground, alice, charlie) -> None:
    change_assistant(alice, ground.lead, instructions="Secret.")

    seen = charlie.get(reverse("admin:assistant_versions", args=[ground.lead.pk]))
    done = restore(charlie, ground.lead, 1)

    assert (seen.status_code, done.status_code) == (404, 404)
    assert AuditEntry.objects.filter(action="admin.refused", user=ground.charlie).count() == 2


def test_s14_looking_at_a_restore_changes_nothing(ground, alice) -> None:
    change_assistant(alice, ground.lead, instructions="Two.")

    response = alice.get(reverse("admin:assistant_restore", args=[ground.lead.pk, 1]))

    assert response.status_code == 405
    assert Assistant.objects.get(pk=ground.lead.pk).instructions == "Two."


def test_a_version_that_never_was_is_not_found(ground, alice) -> None:
    assert restore(alice, ground.lead, 7).status_code == 404
    assert alice.get(address("assistant", "change", ground.lead.pk)).status_code == 200
