"""A question from any depth reaches the person in every chat above it, and the answer goes to who asked (decision 7)."""

import json

import pytest
from django.urls import reverse

from assistants.conversations.inbox import inbox_of
from assistants.conversations.overview import list_conversations
from assistants.conversations.sharing import share_thread
from assistants.models import AuditEntry, Thread, ToolCall, Turn
from assistants.rendering import fragments
from assistants.turns import sweeper
from tests.kit.browsers import HTMX, signed_in
from tests.kit.page import Page
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.words import url

ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which shelf?", "options": ["top", "low"]}}]}


def hand_to(assistant):
    return {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": assistant, "task": f"Ask {assistant}"}}]}


@pytest.fixture
def three(ground):
    """A lead, its sub-chat and that one's sub-chat, of which the lowest asks the person; the three conversations."""
    ground.assistant("middle", name="Middle", tools=["invoke_assistant"], script=[hand_to("stock"), "Middle done."])
    ground.assistant("stock", name="Stock desk", tools=["ask_clarifying_question"], script=[ASK, "Nine on top."])
    ground.script([hand_to("middle"), "All told."])
    root = ground.open("How many?")
    run_all()
    middle = Thread.objects.get(parent=root)
    return root, middle, Thread.objects.get(parent=middle)


def the_question():
    return ToolCall.objects.get(name="ask_clarifying_question")


def form_of(page):
    return page.root.find(id=f"c{the_question().pk.hex}")


def test_j29_report_d24_the_card_stands_in_every_conversation_above_with_the_askers_name(ground, three):
    for thread in three:
        page = Page(signed_in(ground.alice), thread)
        form = form_of(page)
        assert form is not None and "Which shelf?" in form.text() and "Send answer" in form.text()
    for thread in three[:2]:
        page = Page(signed_in(ground.alice), thread)
        assert "Stock desk" in page.at("log").text() and "waiting for you" in page.at("log").text()
    assert "Stock desk asks:" in Page(signed_in(ground.alice), three[0]).at("log").text()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_answer_from_any_of_them_starts_the_askers_next_turn_and_all_go_on(ground, three, depth):
    browser = signed_in(ground.alice, **HTMX)
    form = form_of(Page(signed_in(ground.alice), three[depth]))

    answer = browser.post(form.attributes["action"], {"option": "top"})
    run_all()

    root, middle, stock = three
    assert answer.status_code == 204 and [turn.state for turn in stock.turns.order_by("pk")] == ["done", "done"]
    assert [replies(each)[-1] for each in three] == ["All told.", "Middle done.", "Nine on top."]
    assert json.loads(last_turn(middle).calls.get().result)["reply"] == "Nine on top."
    assert root.turns.count() == middle.turns.count() == 1


def test_whoever_waits_for_one_that_asks_waits_for_the_person(ground, three):
    for thread in three[:2]:
        state = Page(signed_in(ground.alice), thread).at("state")
        assert "waiting for you" in state.text() and "waiting for others" not in state.text()
        assert state.attributes["data-say"].strip() == "Stock desk needs your answer."


def test_the_pages_above_learn_of_it_while_they_are_open(ground):
    ground.assistant("middle", tools=["invoke_assistant"], script=[hand_to("stock"), "Middle done."])
    ground.assistant("stock", name="Stock desk", tools=["ask_clarifying_question"], script=[ASK, "Nine on top."])
    ground.script([hand_to("middle"), "All told."])
    root = ground.open("How many?")
    page = Page(signed_in(ground.alice), root)

    run_all()
    page.poll()

    assert form_of(page) is not None and "waiting for you" in page.at("state").text()
    assert page.parts() == Page(signed_in(ground.alice), root).parts()

    signed_in(ground.alice, **HTMX).post(url("answer_question", the_question()), {"option": "top"})
    run_all()
    page.poll()

    assert form_of(page) is None and "needs your answer" not in page.at("state").attributes["data-say"]
    assert page.parts() == Page(signed_in(ground.alice), root).parts()


def test_the_list_and_the_inbox_name_who_waits(ground, three):
    root, middle, stock = three
    facts = list_conversations(ground.alice).facts
    inbox = inbox_of(ground.alice)

    assert facts.state_of(root, middle, stock) == "answer" and facts.state_of(middle) == "working"
    assert [(each.thread, each.text) for each in inbox.waiting] == [(stock, "Which shelf?")]
    assert stock not in [each.thread for each in inbox.running]


def test_report_q2_no_limit_and_no_sweep_takes_the_silence_for_an_answer(ground, three):
    for turn in Turn.objects.all():
        Turn.objects.filter(pk=turn.pk).update(
            started="2026-01-01T00:00:00Z", created="2026-01-01T00:00:00Z", beat="2026-01-01T00:00:00Z"
        )

    sweeper.sweep()
    run_all()

    states = [last_turn(thread).state for thread in three]
    assert states == ["waiting", "waiting", "done"] and the_question().answer is None


def test_an_assistant_that_may_not_ask_is_refused_as_a_sub_chat_and_asks_as_a_root(ground):
    stock = ground.assistant("stock", tools=["ask_clarifying_question"], may_ask=False, script=[ASK, "Nine, I guess."])
    ground.script([hand_to("stock"), "All told."])
    root = ground.open("How many?")
    run_all()

    call = the_question()
    assert (call.outcome, call.code) == ("refused", "MAY_NOT_ASK") and AuditEntry.objects.filter(action="tool_refused").exists()
    assert json.loads(last_turn(root).calls.get().result)["reply"] == "Nine, I guess."

    own = ground.open("How many?", assistant=stock)
    run_all()
    assert last_turn(own).reason == "question"


def test_a_reader_sees_the_question_of_a_sub_chat_and_can_not_answer_it(ground, three):
    share_thread(three[0], username="rita", by=ground.alice)

    page = Page(signed_in(ground.rita), three[0])
    refused = signed_in(ground.rita, **HTMX).post(reverse("answer_question", args=[the_question().pk]), {"option": "top"})

    assert form_of(page) is not None and "Send answer" not in form_of(page).text()
    assert refused.status_code == 403 and the_question().answer is None
    assert fragments.draw_open_cards(fragments.view_of(ground.rita, three[0].chat_id))["state"]
