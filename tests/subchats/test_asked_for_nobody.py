"""A sub-chat whose caller went on without it: what it asks, what it is said to have told, and how its result still gets up."""

import pytest
from django.db import connection
from django.urls import reverse

from assistants.conversations.inbox import inbox_of
from assistants.conversations.overview import list_conversations
from assistants.models import ToolCall, Turn
from assistants.turns import lifecycle, questions, sweeper
from subchats.delegation.send_back import send_back
from subchats.models import Delegation
from tests.kit.browsers import HTMX, signed_in
from tests.kit.page import Page
from tests.kit.turns import forget, last_turn, replies, run_all

ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which shelf?", "options": ["top", "low"]}}]}
UNHEARD = "went on before this sub-chat had reported"


@pytest.fixture
def asking(ground):
    """A lead that waits for a sub-chat which asks the person; both conversations."""
    ground.assistant("stock", name="Stock desk", tools=["ask_clarifying_question"], script=[ASK, "Nine on top.", ASK])
    handed = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}
    ground.script([handed, "Without them, then.", "Nine, I see."])
    root = ground.open("How many?")
    run_all()
    return root, root.children.get()


def the_question():
    return ToolCall.objects.get(name="ask_clarifying_question")


def answer_with(ground, turn):
    where = reverse("answer_question", args=[the_question().pk])
    return signed_in(ground.alice, **HTMX).post(where, {"queued": turn.pk})


def waits(ground):
    facts = list_conversations(ground.alice).facts
    return facts.asking, inbox_of(ground.alice).waiting


@pytest.mark.parametrize("crashed", [False, True])
def test_t7_what_a_sub_chat_asks_is_asked_for_nobody_once_its_caller_was_stopped(ground, asking, crashed):
    root, child = asking
    assert all(waits(ground))

    lifecycle.stop_turn(last_turn(root).pk, by="Alice")
    if crashed:
        # What was to be done after the commit died with the process.
        forget()
        connection.run_on_commit = []
        sweeper.sweep()
    run_all()

    asked, inbox = waits(ground)
    assert not asked and not inbox
    page, below = Page(signed_in(ground.alice), root), Page(signed_in(ground.alice), child)
    for each in (page, below):
        assert "waiting for you" not in each.root.text() and "your answer" not in each.root.text()
    assert "stopped" in page.at("log").text() and "No answer is needed any more" in below.at("log").text()
    assert UNHEARD in below.at("state").text() and "got the result" not in below.at("state").text()
    assert questions.open_question(child) is None


def test_an_answer_to_a_question_that_is_asked_for_nobody_is_refused_in_words(ground, asking):
    root, child = asking
    form = Page(signed_in(ground.alice), child).root.find(id=f"c{the_question().pk.hex}")
    lifecycle.stop_turn(last_turn(root).pk, by="Alice")
    run_all()

    answer = signed_in(ground.alice, **HTMX).post(form.attributes["action"], {"option": "top"})

    assert answer.status_code == 400 and answer.json()["code"] == "QUESTION_PASSED"


def test_a_stopped_sub_chat_is_continued_and_its_result_sent_up(ground, asking):
    root, child = asking
    lifecycle.stop_turn(last_turn(root).pk, by="Alice")
    run_all()

    questions.send_or_answer(child, author=ground.alice, text="The top one", client_key="1")
    run_all()

    assert replies(child)[-1] == "Nine on top." and replies(root)[-1] != "Nine, I see."
    assert "Send back to the parent" in Page(signed_in(ground.alice), child).at("state").text()
    send_back(child, by=ground.alice)
    run_all()
    assert "Nine on top." in root.messages.filter(role="user").last().text
    assert "Send back to the parent" not in Page(signed_in(ground.alice), child).at("state").text()


def test_after_an_interrupt_the_question_stands_and_its_answer_stays_below_until_it_is_sent_up(ground, asking):
    root, child = asking
    questions.send_or_answer(root, author=ground.alice, text="Go on without", client_key="1", joins="interrupt")
    run_all()
    assert replies(root)[-1] == "Without them, then." and questions.open_question(child) == the_question()
    assert UNHEARD in Page(signed_in(ground.alice), child).at("state").text()

    questions.answer(the_question(), by=ground.alice, chosen=["top"], text="")
    run_all()

    page = Page(signed_in(ground.alice), child)
    assert UNHEARD in page.at("state").text() and "Send back to the parent" in page.at("state").text()
    assert replies(root)[-1] == "Without them, then."
    assert Delegation.objects.get().report["success"] is False


def test_a_message_that_waits_in_a_sub_chat_changes_nothing_on_its_card(ground, asking):
    root, child = asking
    questions.answer(the_question(), by=ground.alice, chosen=["top"], text="")
    running = last_turn(child)
    lifecycle.send_message(child, author=ground.alice, text="And the low one?", client_key="2")
    assert child.turns.filter(state=Turn.State.QUEUED).exists()

    card = Page(signed_in(ground.alice), root).root.find(id=f"c{Delegation.objects.get().call_id.hex}")

    assert "working" in card.text() and "queued" not in card.text()
    assert card.find(formaction=reverse("stop_turn", args=[running.pk])) is not None


def test_a_sub_chat_that_asks_again_has_nothing_to_send_up_yet(ground, asking):
    root, child = asking
    questions.answer(the_question(), by=ground.alice, chosen=["top"], text="")
    run_all()
    questions.send_or_answer(child, author=ground.alice, text="And the low one?", client_key="2")
    run_all()

    assert last_turn(child).reason == "question"
    for thread in asking:
        assert "Send back to the parent" not in Page(signed_in(ground.alice), thread).root.text()


def test_decision_7_a_message_that_waits_above_is_sent_as_the_answer(ground, asking):
    root, child = asking
    waiting = questions.send_or_answer(root, author=ground.alice, text="On the top shelf", client_key="1").turn
    state = Page(signed_in(ground.alice), root).at("state")
    assert "will be read once Stock desk has its answer" in state.text()
    assert state.find(name="queued", value=str(waiting.pk)) is not None

    sent = answer_with(ground, waiting)
    run_all()

    assert sent.status_code == 204 and not root.turns.filter(state=Turn.State.QUEUED).exists()
    assert (the_question().answer["text"], the_question().answer["plain"]) == ("On the top shelf", True)
    assert replies(child)[-1] == "Nine on top." and replies(root)[-1] == "Without them, then."


def test_a_message_waits_on_where_somebody_was_quicker_with_the_answer(ground, asking):
    root, child = asking
    waiting = questions.send_or_answer(root, author=ground.alice, text="On the top shelf", client_key="1").turn
    questions.answer(the_question(), by=ground.alice, chosen=["low"], text="")

    sent = answer_with(ground, waiting)

    assert sent.status_code == 400 and sent.json()["code"] == "ALREADY_ANSWERED"
    waiting.refresh_from_db()
    assert waiting.state == Turn.State.QUEUED


@pytest.mark.parametrize("queued", ["0", "x", "9" * 40])
def test_s01_a_message_that_is_not_there_is_no_answer(ground, asking, queued):
    where = reverse("answer_question", args=[the_question().pk])

    assert signed_in(ground.alice, **HTMX).post(where, {"queued": queued}).status_code == 404
    assert the_question().answer is None


def test_a_sub_chat_whose_delegation_is_gone_is_still_shown(ground, asking):
    root, child = asking
    questions.answer(the_question(), by=ground.alice, chosen=["top"], text="")
    run_all()
    Delegation.objects.all().delete()

    state = Page(signed_in(ground.alice), child).at("state").text()

    assert "learns nothing of what is written here" in state and "Send back" not in state
