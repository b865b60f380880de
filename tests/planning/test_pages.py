"""What a person sees of a plan and does with it: the card, the panel, what was left open; live as after a reload."""

import pytest
from django.urls import reverse

from assistants.models import Assistant, Domain, ThreadShare
from subchats.models import Plan, PlanStep
from tests.kit.browsers import HTMX, PAGE, signed_in
from tests.kit.page import Page
from tests.kit.turns import commit_hooks, last_turn, run_all
from tests.planning.team import call, confirm, fan_out, head_of, invoke, plan, play, reply, step, steps_in

RETURNS = step("Returns per week", "One figure per week", specialist="desk")
STOCK = step("Stock of the worst", "A figure for the article", specialist="count")


@pytest.fixture
def alice(team):
    return signed_in(team.alice, **PAGE)


@pytest.fixture
def asking(team):
    Assistant.objects.filter(pk=team.lead.pk).update(plan_approval="person")
    return team


def the_plan(page):
    found = page.root.find(_class="plan-section")
    return " ".join(found.text().split()) if found else ""


def asked(thread):
    return last_turn(thread).calls.get(name="write_plan", state="open")


def card(page, waiting):
    return " ".join(page.at(f"c{waiting.pk.hex}").text().split())


def decide(browser, thread, **data):
    data = {"hash": Plan.objects.get(turn=last_turn(thread)).hash, **data}
    answer = browser.post(reverse("decide_plan", args=[asked(thread).pk]), data)
    run_all()
    return answer


def test_the_panel_shows_each_step_with_its_check_its_specialist_and_its_evidence(team, alice):
    thread = play(team, plan(RETURNS, STOCK, step("Say what to do", "Names an owner")), invoke("desk"), confirm(1, "118 units"))

    shown = the_plan(Page(alice, thread))

    assert shown.startswith("Plan1 of 3") or shown.startswith("Plan 1 of 3")
    for words in ("Returns per week", "Check: One figure per week", "Desk", "Returns", "done", "Evidence: 118 units"):
        assert words in shown
    assert "answers itself" in shown and "left open" in shown


def test_journey_2_a_handover_that_an_existing_plan_does_not_foresee_is_shown_as_one(team, alice):
    thread = play(team, plan(step("Count them", specialist="desk")), invoke("desk"), invoke("desk"))

    assert "1 handover outside of a plan" in the_plan(Page(alice, thread))


def test_journey_2_handovers_without_a_plan_are_shown_as_such(team, alice):
    single = play(team, invoke("desk"))
    several = play(team, invoke("desk"), invoke("count"))

    told = [the_plan(Page(alice, each)) for each in (single, several)]
    assert "1 handover outside of a plan" in told[0] and "2 handovers outside of a plan" in told[1]


def test_j16_several_handovers_below_the_root_without_a_plan_are_shown(team, alice):
    head_of(team, invoke("desk"), invoke("second"), "Both are in.")
    below = play(team, invoke("head")).children.get()

    assert "2 handovers outside of a plan" in the_plan(Page(alice, below))


def test_a_conversation_without_a_plan_has_no_such_section(team, alice):
    thread = play(team)

    assert the_plan(Page(alice, thread)) == ""


def test_a_sub_chat_shows_its_own_plan(team, alice):
    team.assistant("head", tools=["write_plan", "invoke_assistant"], domain=Domain.objects.get(slug="returns"),
                   script=[plan(RETURNS), "Planned."])  # fmt: skip
    thread = play(team, plan(step("Ask the head", specialist="head")), invoke("head"))

    assert "Returns per week" in the_plan(Page(alice, thread.children.get()))
    assert "Ask the head" in the_plan(Page(alice, thread)) and "Returns per week" not in the_plan(Page(alice, thread))


def test_report_p4_what_was_seen_of_a_plan_live_is_what_a_reload_shows(team, alice):
    both = plan(RETURNS, STOCK)
    team.script([fan_out("desk", "count"), both, plan(step("Returns per week", "Other")), fan_out("desk", "count"), confirm(1),
                 confirm(2, "Not asked for", skip=True), "Done."])  # fmt: skip
    thread = team.open()
    commit_hooks()
    live = Page(alice, thread)

    run_all()
    live.poll()
    again = Page(alice, thread)

    assert live.parts() == again.parts()
    assert live.at("panel").outline() == again.at("panel").outline()


def test_report_p4_the_card_of_a_plan_does_not_change_with_its_steps(team, alice):
    thread = play(team, plan(RETURNS), invoke("desk"), confirm(1))
    (written,) = last_turn(thread).calls.filter(name="write_plan")

    before = Page(alice, thread).at(f"c{written.pk.hex}").outline()
    PlanStep.objects.update(status="pending", evidence="")

    assert Page(alice, thread).at(f"c{written.pk.hex}").outline() == before


def test_the_card_of_a_recorded_plan_says_nothing_of_how_far_it_is(team, alice):
    thread = play(team, plan(RETURNS, STOCK))
    (written,) = last_turn(thread).calls.filter(name="write_plan")

    page = Page(alice, thread)

    assert "0 of 2" in the_plan(page)
    assert "done" not in card(page, written) and "Returns per week" in card(page, written)


def test_report_l5_what_a_turn_left_open_is_named_beneath_its_answer(team, alice):
    thread = play(team, plan(RETURNS, STOCK), invoke("desk"))

    note = Page(alice, thread).at(f"t{last_turn(thread).pk}")
    assert "hidden" not in note.attributes
    told = " ".join(note.text().split())
    assert "Left open in the plan:" in told
    assert "1. Returns per week (reported, but not confirmed)" in told and "2. Stock of the worst" in told


def test_report_l5_a_plan_that_was_carried_out_leaves_no_note(team, alice):
    thread = play(team, plan(RETURNS, STOCK), invoke("desk"), confirm(1), confirm(2, "Nobody asked for it", skip=True))

    assert "hidden" in Page(alice, thread).at(f"t{last_turn(thread).pk}").attributes


def test_a_refused_plan_says_why_without_codes(team, alice):
    thread = play(team, plan(step("Count", "done")))

    (refused,) = last_turn(thread).calls.all()
    shown = card(Page(alice, thread), refused)
    assert "says that the work is done" in shown and "refused" in shown and "CHECK_TRIVIAL" not in shown


def test_the_card_asks_for_approval_and_the_form_works_without_a_script(asking, alice):
    thread = play(asking, plan(RETURNS), invoke("desk"))
    page = Page(alice, thread)
    waiting = asked(thread)

    shown = card(page, waiting)
    assert "Lead asks you to approve this plan" in shown and "waiting for you" in shown and "Approve this plan" in shown
    assert "It waits for your approval." in the_plan(page)
    form = page.at(f"c{waiting.pk.hex}").find(name="form") or page.at(f"c{waiting.pk.hex}").find(method="post")
    assert form.find(name_="csrfmiddlewaretoken").attributes["value"]

    answer = decide(alice, thread, decision="approve")

    assert answer.status_code == 302
    assert steps_in(thread) == [("Returns per week", "reported")]
    assert "alice approved it at" in card(Page(alice, thread), waiting)


def test_whoever_edits_a_step_chooses_its_specialist_by_name(asking, alice):
    Assistant.objects.filter(slug="desk").update(name="Returns desk")
    thread = play(asking, plan(RETURNS, step("Say what to do", "Names an owner")))

    shown = Page(alice, thread).at(f"c{asked(thread).pk.hex}")
    field = shown.find(_name="specialist")

    assert (field.name, field.find(value="desk").text()) == ("select", "Returns desk")
    assert "selected" in field.find(value="desk").attributes and "selected" not in field.find(value="count").attributes


def test_a_refused_plan_names_specialists_and_domains_as_everything_else_does(team, alice):
    Assistant.objects.filter(slug="desk").update(name="Returns desk")
    Domain.objects.filter(slug="stock").update(name="Warehouse")
    thread = play(team, plan(step("Count", "done", specialist="desk", domain="stock")))

    (refused,) = last_turn(thread).calls.all()

    assert "Returns desk" in card(Page(alice, thread), refused) and "Warehouse" in card(Page(alice, thread), refused)


def test_a_person_edits_takes_out_and_adds_steps(asking, alice):
    thread = play(asking, plan(RETURNS, STOCK), invoke("desk"))

    decide(
        alice,
        thread,
        decision="save",
        description=["Returns of week 47", "", "Say what to do"],
        check=["One figure", "A figure", "Names an owner"],
        specialist=["desk", "count", ""],
        domain=["", "", ""],
    )

    assert [name for name, _ in steps_in(thread)] == ["Returns of week 47", "Say what to do"]
    assert not Plan.objects.get().is_approved and "Returns of week 47" in card(Page(alice, thread), asked(thread))

    decide(alice, thread, decision="approve")

    assert steps_in(thread)[0] == ("Returns of week 47", "reported")


def test_a_rejection_shows_the_persons_words_and_what_was_planned(asking, alice):
    thread = play(asking, plan(RETURNS))
    waiting = asked(thread)

    decide(alice, thread, decision="reject", words="Ask purchasing instead.")

    shown = card(Page(alice, thread), waiting)
    assert "Ask purchasing instead." in shown and "alice rejected it at" in shown and "Returns per week" in shown


def test_an_outdated_page_decides_nothing(asking):
    browser = signed_in(asking.alice, **HTMX)
    thread = play(asking, plan(RETURNS))

    answer = decide(browser, thread, decision="approve", hash="0" * 64)

    assert (answer.status_code, answer.json()["code"]) == (400, "PLAN_CHANGED")
    assert not Plan.objects.get().is_approved


def test_whoever_may_only_read_sees_the_plan_and_decides_nothing(asking):
    thread = play(asking, plan(RETURNS))
    ThreadShare.objects.create(thread=thread, user=asking.rita)
    browser = signed_in(asking.rita, **PAGE)

    shown = card(Page(browser, thread), asked(thread))
    answer = decide(browser, thread, decision="approve")

    assert "Waiting for its owner's decision." in shown and "Approve this plan" not in shown
    assert answer.status_code == 403 and not Plan.objects.get().is_approved


def test_report_d8_a_plan_from_below_asks_in_the_parents_chat_too(team, alice):
    team.assistant("head", name="Head", tools=["write_plan", "invoke_assistant"], domain=Domain.objects.get(slug="returns"),
                   plan_approval="person", script=[plan(RETURNS), "Planned."])  # fmt: skip
    thread = play(team, invoke("head"))
    below = thread.children.get()

    page = Page(alice, thread)

    assert "Head asks you to approve this plan" in card(page, asked(below))
    assert "A plan waits for your approval." in alice.get(reverse("inbox")).content.decode()


def test_hostile_words_of_a_plan_are_shown_as_words(asking, alice):
    nasty = '<img src=x onerror=alert(1)> & "quotes"'
    thread = play(asking, plan(step(nasty, nasty)))

    html = alice.get(reverse("thread", args=[thread.chat_id])).content.decode()

    assert "<img src=x" not in html
    assert nasty in card(Page(alice, thread), asked(thread))


def test_a_broken_plan_is_drawn_all_the_same(team, alice):
    odd = [call("write_plan", steps=each) for each in ("x", [1, None], [{"description": 3}], {"a": 1})]
    thread = play(team, reply(*odd))

    assert Page(alice, thread)
