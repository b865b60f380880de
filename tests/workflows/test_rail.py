"""The rail beside the conversation and the cards: what a person sees, ticks, takes back and has run again (J-35, J-37)."""

import pytest

from assistants.models import Assistant, Thread
from assistants.turns import lifecycle
from subchats.models import WorkflowRecord
from subchats.workflows.catalogue import get_workflow
from subchats.workflows.progress import progress_of
from tests.kit.browsers import HTMX, PAGE, signed_in
from tests.kit.ledger import toolbox
from tests.kit.page import Page
from tests.kit.turns import last_turn, replies, run_all
from tests.workflows.steps import COUNT, NODES, PROGRESS, TIME, call, record

DONE, SEEN, LEFT = "recorded_done", "inferred_done", "outstanding"


def play(ground, *steps, owner=None):
    ground.script({"rules": [{"steps": [*steps, "Done."]}]})
    thread = ground.open(owner=owner)
    run_all()
    return thread


def rail(page):
    """Each step of the rail: its classes and its words."""
    found = page.at("panel").find(_class="rail")
    return [(step.attributes["class"].split(), " ".join(step.text().split())) for step in found.elements()] if found else None


def states(thread):
    return [str(step.state) for step in progress_of(get_workflow(thread.tenant_id, "banana-count"), thread).steps]


def mark(browser, thread, node="sign", completed="1", **more):
    sent = {"workflow": "banana-count", "node": node, "completed": completed, **more}
    return browser.post(f"/c/{thread.chat_id}/workflow/", sent)


def again(browser, thread, node, **more):
    return browser.post(f"/c/{thread.chat_id}/workflow/again/", {"workflow": "banana-count", "node": node, **more})


def test_a_conversation_that_follows_no_workflow_has_no_rail(troop):
    page = Page(signed_in(troop.alice), play(troop, TIME, call("find_graph_workflow", task="Count bananas")))

    assert rail(page) is None


def test_journey_11_the_rail_says_each_state_in_words_and_marks_the_next_step_and_the_persons(troop):
    page = Page(signed_in(troop.alice), play(troop, TIME, record("count", True, "42 pieces"), PROGRESS))

    ask, count, sign, file = rail(page)
    assert ask[0] == [SEEN] and "Ask the clock · seen done" in ask[1]
    assert count[0] == [DONE] and "Count · done" in count[1] and "42 pieces" in count[1]
    assert sign[0] == [LEFT, "next"] and "a person does this" in sign[1] and "The keeper signs" in sign[1]
    assert file[0] == [LEFT] and "File the sheet · outstanding" in file[1]


def test_j35_j37_a_person_ticks_their_step_and_takes_it_back(troop):
    thread = play(troop, TIME, COUNT, PROGRESS)
    browser = signed_in(troop.alice, **HTMX)

    assert mark(browser, thread, note="Signed at the gate").status_code == 204
    assert states(thread) == [SEEN, SEEN, DONE, LEFT]
    said = WorkflowRecord.objects.get()
    assert (said.user, said.note, said.call) == (troop.alice, "Signed at the gate", None)

    assert mark(browser, thread, completed="0").status_code == 204
    assert states(thread) == [SEEN, SEEN, LEFT, LEFT]


def test_a_tick_without_a_script_leads_back_to_the_conversation(troop):
    thread = play(troop, PROGRESS)

    answer = mark(signed_in(troop.alice, **PAGE), thread)

    assert (answer.status_code, answer.url) == (302, f"/c/{thread.chat_id}/")


def test_a_tick_is_seen_on_every_open_page_of_the_tree_as_after_a_reload(troop):
    troop.assistant("clock", tools=["current_time"], script=[TIME, "Noon."])
    thread = play(troop, call("invoke_assistant", assistant="clock", task="Tell the time"), PROGRESS)
    browser, child = signed_in(troop.alice), Thread.objects.get(parent=thread)
    pages = [Page(browser, thread), Page(browser, child)]

    mark(browser, child)

    for page in pages:
        page.poll()
        assert rail(page)[2][0] == [DONE]
        assert page.at("panel").outline() == Page(browser, page.thread).at("panel").outline()


def test_what_was_seen_live_is_what_a_reload_shows(troop):
    troop.script({"rules": [{"steps": [PROGRESS, TIME, COUNT, record("sign"), PROGRESS, "Done."]}]})
    thread = troop.open()
    browser = signed_in(troop.alice)
    page = Page(browser, thread)
    run_all()

    page.poll()

    fresh = Page(browser, thread)
    assert page.parts() == fresh.parts()
    assert page.at("panel").outline() == fresh.at("panel").outline()


@pytest.mark.parametrize(("node", "workflow"), [("fly", "banana-count"), ("sign", "nothing")])
def test_an_unknown_step_or_workflow_is_refused_and_nothing_is_stored(troop, node, workflow):
    thread = play(troop, PROGRESS)

    answer = mark(signed_in(troop.alice, **HTMX), thread, node=node, workflow=workflow)

    assert answer.status_code == 400
    assert answer.json()["code"] in ("NODE_UNKNOWN", "WORKFLOW_UNKNOWN")
    assert not WorkflowRecord.objects.exists()


def test_s01_strangers_and_readers_tick_nothing_and_readers_get_no_button(troop):
    thread = play(troop, PROGRESS)
    thread.shares.create(user=troop.rita)

    assert mark(signed_in(troop.charlie), thread).status_code == 404
    assert mark(signed_in(troop.rita), thread).status_code == 403
    assert again(signed_in(troop.rita), thread, "ask").status_code == 403
    assert Page(signed_in(troop.rita), thread).at("panel").find(name="note") is None
    assert not WorkflowRecord.objects.exists()


def test_running_again_from_a_step_takes_it_and_what_rests_on_it_back_and_keeps_the_others(troop):
    thread = play(troop, TIME, COUNT, record("sign"), PROGRESS)

    assert again(signed_in(troop.alice, **HTMX), thread, "count").status_code == 204
    assert states(thread) == [SEEN, LEFT, LEFT, LEFT]

    run_all()
    asked = last_turn(thread).user_message
    assert asked.author == troop.alice
    assert "“Banana count” (banana-count) again from step 2, “Count” (count)" in asked.text
    assert "keep the outputs of the steps before it" in asked.text


def test_running_again_twice_by_the_same_button_asks_once(troop):
    thread = play(troop, TIME, PROGRESS)
    browser = signed_in(troop.alice, **HTMX)

    for _ in range(2):
        assert again(browser, thread, "ask", key="again-0").status_code == 204

    run_all()
    assert thread.turns.count() == 2
    assert WorkflowRecord.objects.count() == len(NODES)


def test_running_again_from_a_sub_chats_page_speaks_to_the_root(troop):
    troop.assistant("clock", tools=["current_time"], script=[TIME, "Noon."])
    thread = play(troop, call("invoke_assistant", assistant="clock", task="Tell the time"), PROGRESS)
    child = Thread.objects.get(parent=thread)

    answer = again(signed_in(troop.alice, **PAGE), child, "ask")
    run_all()

    assert answer.url == f"/c/{thread.chat_id}/"
    assert (thread.turns.count(), child.turns.count()) == (2, 1)


def test_running_again_where_nobody_can_answer_takes_nothing_back(troop):
    thread = play(troop, TIME, PROGRESS)
    Assistant.objects.filter(pk=troop.lead.pk).update(enabled=False)

    assert again(signed_in(troop.alice, **HTMX), thread, "ask").status_code == 400
    assert states(thread)[0] == SEEN


def test_running_again_waits_behind_a_turn_that_is_at_work(troop):
    thread = play(troop, TIME, PROGRESS)
    lifecycle.send_message(thread, author=troop.alice, text="Busy")

    again(signed_in(troop.alice, **HTMX), thread, "ask")

    assert [turn.state for turn in thread.turns.order_by("pk")] == ["done", "thinking", "queued"]
    run_all()
    assert replies(thread)[-1] == "Done."
    assert {turn.state for turn in thread.turns.all()} == {"done"}


def test_running_again_warns_of_what_would_be_done_once_more_outside(troop):
    once = toolbox.charge.__name__
    troop.apes.workflows.update(nodes=[NODES[0], {**NODES[1], "operations": [once]}])

    page = Page(signed_in(troop.alice), play(troop, TIME, record("count"), PROGRESS))

    assert all(f"{once} would be carried out once more" in words for _, words in rail(page))


def test_the_cards_show_what_was_found_read_and_how_far_it_was(troop):
    find, read = call("find_graph_workflow", task="Count bananas"), call("get_graph_workflow", workflowId="banana-count")
    thread = play(troop, find, read, PROGRESS, call("get_graph_workflow", workflowId="nothing"))
    page = Page(signed_in(troop.alice), thread)

    cards = [page.at(f"c{each.pk.hex}") for each in last_turn(thread).calls.order_by("round")]
    found, whole, progress, refused = (" ".join(card.text().split()) for card in cards)
    assert "Banana count" in found and "bananas" in found
    assert "calculate" in whole and "The keeper signs the sheet" in whole
    assert cards[1].find(_class="graph") is not None
    assert "0/4" in progress and "next" in progress
    assert "There is no workflow “nothing”" in refused


def test_a_card_tells_how_things_stood_then_and_the_rail_how_they_stand_now(troop):
    thread = play(troop, PROGRESS, TIME)
    page = Page(signed_in(troop.alice), thread)

    (card,) = (page.at(f"c{each.pk.hex}") for each in last_turn(thread).calls.filter(name="get_workflow_progress"))
    assert card.find(_class=SEEN) is None
    assert rail(page)[0][0] == [SEEN]


def test_a_workflow_that_was_switched_off_leaves_the_rail(troop):
    thread = play(troop, TIME, PROGRESS)

    troop.apes.workflows.update(enabled=False)

    assert rail(Page(signed_in(troop.alice), thread)) is None


def test_the_rail_speaks_the_language_of_its_reader(troop):
    thread = play(troop, call("get_workflow_progress", workflowId="import-documents"))

    page = Page(signed_in(troop.alice, **{"Accept-Language": "de"}), thread)

    words = " ".join(page.at("panel").text().split())
    assert "Ablauf" in words and "Dokumente importieren · 0/4" in words
    assert "Index neu aufbauen · offen" in words and "macht ein Mensch" in words
    assert "die Aktion „Neu einlesen“" in words
