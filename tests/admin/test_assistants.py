"""The form of an assistant: what it shows, what it takes and what it refuses."""

import pytest

from assistants.llm import scripted
from assistants.models import Assistant, AuditEntry, Domain, Membership, Thread
from assistants.models.definition import definition_of
from assistants.tools.registry import all_tools
from subchats.delegation.roster import delegates_of
from tests.kit.turns import run_all

from .forms import address, assistant_data, change_assistant, errors_of


def test_the_form_shows_every_tool_with_what_it_does(ground, alice) -> None:
    page = alice.get(address("assistant", "change", ground.lead.pk)).content.decode()

    for tool in all_tools():
        assert f'value="{tool.name}"' in page
    assert "Tell the present date and time" in page
    assert page.count("hands work on: not for public assistants") == sum(tool.delegates for tool in all_tools())
    assert "changes nothing" in page


def test_the_form_explains_itself(ground, alice) -> None:
    page = alice.get(address("assistant", "add")).content.decode()

    for words in ("what they choose it by", "Start with little", "None ticked", "who are not signed in"):
        assert words in page


def test_the_form_offers_the_other_assistants_of_the_team_as_delegates(ground, alice) -> None:
    law, guide = ground.assistant("law"), ground.assistant("guide", public=True)

    form = alice.get(address("assistant", "change", ground.lead.pk)).context["adminform"].form

    assert [pk.value for pk, _ in form.fields["delegates"].choices] == [law.pk]
    assert guide.pk not in [pk.value for pk, _ in form.fields["delegates"].choices]


def test_everything_on_the_form_is_stored(ground, alice) -> None:
    law, domain = ground.assistant("law"), Domain.objects.create(tenant=ground.apes, slug="work", name="Work")

    response = change_assistant(
        alice,
        ground.lead,
        name="Boss",
        slug="boss",
        description="Decides.",
        tools=["current_time", "invoke_assistant"],
        delegates=[law.pk],
        domain=domain.pk,
        profile="",
        may_ask=False,
        starters="What is due?\n\n  Who is on holiday?  \n",
        max_steps=7,
    )

    assert response.status_code == 302
    boss = Assistant.objects.get(pk=ground.lead.pk)
    assert (boss.name, boss.slug, boss.description, boss.max_steps) == ("Boss", "boss", "Decides.", 7)
    assert (boss.tools, list(boss.delegates.all()), boss.domain, boss.profile) == (
        ["current_time", "invoke_assistant"],
        [law],
        domain,
        None,
    )
    assert (boss.may_ask, boss.starters) == (False, ["What is due?", "Who is on holiday?"])


def test_a_new_assistant_belongs_to_the_only_team_of_its_maker(ground, alice) -> None:
    response = alice.post(address("assistant", "add"), assistant_data(tools=["current_time"]))

    assert response.status_code == 302
    made = Assistant.objects.get(slug="new")
    assert (made.tenant, made.tools, made.version) == (ground.apes, ["current_time"], 1)


def test_a_delegate_that_leads_back_is_refused(ground, alice) -> None:
    law, prices = ground.assistant("law"), ground.assistant("prices")
    ground.lead.delegates.add(law)
    law.delegates.add(prices)

    response = change_assistant(alice, prices, delegates=[ground.lead.pk])

    assert "prices → lead → law → prices" in errors_of(response)["delegates"][0]
    assert not prices.delegates.exists()


def test_two_ways_to_the_same_delegate_are_no_circle(ground, alice) -> None:
    law, prices, maths = ground.assistant("law"), ground.assistant("prices"), ground.assistant("maths")
    law.delegates.add(maths)
    prices.delegates.add(maths)

    assert change_assistant(alice, ground.lead, delegates=[law.pk, prices.pk]).status_code == 302


def test_an_assistant_can_not_be_its_own_delegate(ground, alice) -> None:
    response = change_assistant(alice, ground.lead, delegates=[ground.lead.pk])

    assert "delegates" in errors_of(response)
    assert not ground.lead.delegates.exists()


def test_an_unknown_tool_is_refused(ground, alice) -> None:
    response = change_assistant(alice, ground.lead, tools=["current_time", "rm_rf"])

    assert "rm_rf" in errors_of(response)["tools"][0]
    assert "rm_rf" not in Assistant.objects.get(pk=ground.lead.pk).tools


def test_a_tool_that_no_longer_exists_is_shown_so_that_it_can_be_taken_away(ground, alice) -> None:
    old = ground.assistant("old", tools=["current_time", "gone_tool"])

    page = alice.get(address("assistant", "change", old.pk)).content.decode()
    kept = change_assistant(alice, old)
    freed = change_assistant(alice, old, tools=["current_time"])

    assert 'value="gone_tool"' in page
    assert "There is no tool “gone_tool”" in errors_of(kept)["tools"][0]
    assert freed.status_code == 302


@pytest.mark.parametrize("tool", ["invoke_assistant", "spawn_agent"])
def test_t03_a_public_assistant_with_a_delegation_tool_is_refused_on_save(ground, alice, tool) -> None:
    """Journey 15, the first of three walls: whoever ticks both is told why not."""
    guide = ground.assistant("guide")

    response = change_assistant(alice, guide, public="on", tools=[tool])

    assert f"A public assistant can't have {tool}" in errors_of(response)["tools"][0]
    assert not Assistant.objects.get(pk=guide.pk).public


def test_a_public_assistant_can_not_be_a_delegate_from_either_end(ground, alice) -> None:
    guide, law = ground.assistant("guide", public=True), ground.assistant("law")
    ground.lead.delegates.add(law)

    chosen = change_assistant(alice, ground.lead, delegates=[law.pk, guide.pk])
    opened = change_assistant(alice, law, public="on")

    assert "delegates" in errors_of(chosen)
    assert "“Lead” hands work to it" in errors_of(opened)["public"][0]


def test_whoever_leads_a_domain_stays_in_it(ground, alice) -> None:
    work = Domain.objects.create(tenant=ground.apes, slug="work", name="Work")
    ground.lead.domain = work
    ground.lead.save()
    work.supervisor = ground.lead
    work.save()

    response = change_assistant(alice, ground.lead, domain="")

    assert "It leads the domain “Work”" in errors_of(response)["domain"][0]


def test_a_short_name_is_unique_in_its_team_and_free_in_another(ground, alice, charlie) -> None:
    refused = alice.post(address("assistant", "add"), assistant_data(slug="lead"))
    taken = change_assistant(alice, ground.assistant("law"), slug="lead")

    assert "already exists" in str(errors_of(refused))
    assert "already exists" in str(errors_of(taken))
    assert charlie.post(address("assistant", "add"), assistant_data(slug="lead")).status_code == 302


@pytest.mark.parametrize("steps", [0, 51])
def test_d11_the_model_calls_of_a_turn_stay_within_their_bounds(ground, alice, steps) -> None:
    response = change_assistant(alice, ground.lead, max_steps=steps)

    assert "1 to 50" in errors_of(response)["max_steps"][0]


@pytest.mark.parametrize("starters", ["\n".join("abcdefg"), "x" * 201])
def test_d11_starters_stay_within_their_bounds(ground, alice, starters) -> None:
    assert "starters" in errors_of(change_assistant(alice, ground.lead, starters=starters))


def try_it(client, assistant, **changes):
    return client.post(f"/admin/assistants/assistant/{assistant.pk}/trial/", assistant_data(assistant, **changes))


def test_try_it_opens_a_chat_with_the_unsaved_draft_and_saves_nothing_of_it(ground, alice) -> None:
    law = ground.assistant("law", tools=["current_time"], script=["As you wish."])
    before = Assistant.objects.filter(pk=law.pk).values().get()

    answer = try_it(alice, law, name="Draft of Law", instructions="Speak in rhymes.", tools=["calculate"])
    thread = Thread.objects.get()
    page = alice.get(answer["Location"]).content.decode()
    alice.post(f"/c/{thread.chat_id}/send/", {"text": "Hi"})
    run_all()

    asked = scripted.requests(law.profile.model)[-1]
    assert "Speak in rhymes." in str(asked.messages) and "calculate" in str(asked) and "current_time" not in str(asked)
    assert "Trial: Draft of Law" in page and "A trial of what stood in the form, unsaved." in page
    assert Assistant.objects.filter(pk=law.pk).values().get() == before and not law.versions.exists()


def test_a_draft_hands_work_to_those_of_its_own_list(ground, alice) -> None:
    law, clerk, cook = (ground.assistant(slug, script=["Done."]) for slug in ("law", "clerk", "cook"))

    try_it(alice, law, tools=["invoke_assistant"], delegates=[clerk.pk])
    try_it(alice, law, tools=["invoke_assistant"], delegates=[])

    one, every = Thread.objects.order_by("pk")
    assert delegates_of(definition_of(one), one) == [clerk]
    assert delegates_of(definition_of(every), every) == [clerk, cook, ground.lead]


def test_a_draft_with_faults_opens_nothing_and_shows_them(ground, alice) -> None:
    response = try_it(alice, ground.lead, name="")

    assert "name" in errors_of(response) and not Thread.objects.exists()
    assert f'action="{address("assistant", "change", ground.lead.pk)}"' in response.content.decode()
    assert Assistant.objects.get(pk=ground.lead.pk).name == "Lead"


def test_s09_a_draft_is_tried_by_whoever_sets_the_assistant_up_and_only_as_long(ground, alice, charlie, bob) -> None:
    assert [try_it(each, ground.lead).status_code for each in (charlie, bob)] == [404, 403]
    assert alice.get(f"/admin/assistants/assistant/{ground.lead.pk}/trial/").status_code == 405
    try_it(alice, ground.lead)
    thread = Thread.objects.get()
    assert definition_of(thread).tools

    Membership.objects.filter(user=ground.alice).update(role="member")
    assert not definition_of(thread).tools and not definition_of(thread).enabled
    ground.lead.delete()
    assert not definition_of(Thread.objects.get()).enabled


def test_try_it_is_offered_for_an_assistant_that_is_switched_on_and_leads_to_a_tab_of_its_own(ground, alice) -> None:
    law, maths = ground.assistant("law"), ground.assistant("maths", enabled=False)

    page = alice.get(address("assistant", "change", law.pk)).content.decode()
    off = alice.get(address("assistant", "change", maths.pk)).content.decode()

    assert f'form="assistant_form" formaction="/admin/assistants/assistant/{law.pk}/trial/" formtarget="_blank"' in page
    assert 'id="assistant_form"' in page and "Try it" not in off


def test_s18_names_and_descriptions_stay_text(ground, alice) -> None:
    ground.assistant("law", name="<img src=x onerror=alert(1)>", description="<script>alert(2)</script>")

    pages = [alice.get(address("assistant", "changelist")), alice.get(address("assistant", "change", ground.lead.pk))]

    for page in pages:
        assert "<img src=x" not in page.content.decode()
        assert "<script>alert" not in page.content.decode()


def test_changing_and_deleting_an_assistant_is_noted_without_its_words(ground, alice) -> None:
    law = ground.assistant("law")

    change_assistant(alice, law, instructions="The word is SESAME.", max_steps=9)
    alice.post(address("assistant", "delete", law.pk), {"post": "yes"})

    changed, deleted = AuditEntry.objects.filter(tenant=ground.apes).order_by("pk")
    assert (changed.action, changed.user, changed.target) == ("assistant.changed", ground.alice, f"assistant {law.pk}")
    assert changed.detail["changes"] == [{"changed": {"fields": ["Instructions", "Model calls in one turn"]}}]
    assert (deleted.action, deleted.detail) == ("assistant.deleted", {"name": "Law"})
    assert "SESAME" not in str(changed.detail)
    assert not Assistant.objects.filter(pk=law.pk).exists()
