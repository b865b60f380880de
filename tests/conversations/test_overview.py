"""The list of conversations and the inbox: working, your answer, unread; right in every tab (S3)."""

import pytest

from assistants.conversations.inbox import inbox_of
from assistants.conversations.overview import list_conversations
from assistants.conversations.shelf import archive_thread, pin_thread
from assistants.models import Thread, ToolCall, Turn
from assistants.turns import lifecycle, questions
from tests.kit.browsers import HTMX, signed_in
from tests.kit.page import Page, read
from tests.kit.turns import last_turn, run_all
from tests.kit.words import cut_off_call, said, url

ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["red", "blue"]}}]}
DELEGATE = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}


def states(actor, current=None):
    """What each conversation says in the list, by its title."""
    listing = list_conversations(actor, current)
    return {each.title: listing.facts.state_of(each, *listing.below.get(each.pk, ())) for each in listing.roots} | {
        each.title: listing.facts.state_of(each) for below in listing.below.values() for each in below
    }


def see(browser, thread):
    thread.refresh_from_db()
    return browser.post(url("mark_seen", thread), {"seq": thread.last_event})


def test_report_s3_a_conversation_works_then_has_news_then_was_seen(ground):
    thread = ground.open("Go")
    working = states(ground.alice)
    run_all()
    unread = states(ground.alice)

    answer = see(signed_in(ground.alice), thread)

    assert (working, unread, states(ground.alice)) == ({"Go": "working"}, {"Go": "unread"}, {"Go": ""})
    assert answer.status_code == 204


def test_the_page_that_is_open_shows_no_news_of_itself(ground):
    thread = ground.open("Go")
    run_all()

    assert states(ground.alice, current=thread) == {"Go": ""}


def test_a_question_anywhere_in_the_tree_asks_at_the_top(ground):
    ground.assistant("stock", tools=["ask_clarifying_question"], script=[ASK, "Red ones: 5."])
    ground.script([DELEGATE, "Five."])
    ground.open("How many?")
    run_all()
    assert states(ground.alice) == {"How many?": "answer", "Count": "answer"}

    questions.answer(ToolCall.objects.get(name="ask_clarifying_question"), by=ground.alice, chosen=["red"], text="")
    assert states(ground.alice) == {"How many?": "working", "Count": "working"}
    run_all()

    assert states(ground.alice) == {"How many?": "unread", "Count": ""}


def test_a_sub_chat_has_news_once_its_owner_has_opened_it(ground):
    ground.assistant("stock", script=["Five.", "Six by now."])
    ground.script([DELEGATE, "Five."])
    thread = ground.open("How many?")
    run_all()
    child = Thread.objects.get(parent=thread)
    browser = signed_in(ground.alice)
    see(browser, thread)
    see(browser, child)

    lifecycle.send_message(child, author=ground.alice, text="And now?")
    run_all()

    assert states(ground.alice) == {"How many?": "unread", "Count": "unread"}


def test_a_shared_conversation_asks_nothing_of_its_reader_and_has_no_news_for_them(ground):
    ground.script([ASK])
    thread = ground.open("Go")
    run_all()
    signed_in(ground.alice).post(url("share_thread", thread), {"username": "bob"})

    assert states(ground.bob) == {"Go": ""} and states(ground.alice) == {"Go": "answer"}
    see(signed_in(ground.bob), thread)
    assert inbox_of(ground.bob).waiting == () and Thread.objects.get().seen_event == 0


def test_seeing_an_older_event_takes_nothing_back_and_a_future_one_counts_for_nothing(ground):
    thread = ground.open("Go")
    run_all()
    browser = signed_in(ground.alice)
    see(browser, thread)
    seen = Thread.objects.get().seen_event

    for number in ("1", "999999", "-1", "x", ""):
        assert browser.post(url("mark_seen", thread), {"seq": number}).status_code == 204

    assert Thread.objects.get().seen_event == seen


def test_a_rename_is_no_news(ground):
    thread = ground.open("Go")
    run_all()
    browser = signed_in(ground.alice)
    see(browser, thread)

    browser.post(url("rename_thread", thread), {"title": "Gone"})

    assert states(ground.alice) == {"Gone": ""}


def test_pinned_conversations_stand_first_and_archived_ones_are_put_away(ground):
    first, second, third = (ground.open(text) for text in ("One", "Two", "Three"))
    run_all()

    pin_thread(first, pinned=True)
    archive_thread(second, archived=True)

    assert list(states(ground.alice)) == ["One", "Three"]
    assert list(states(ground.alice, current=second)) == ["One", "Three", "Two"]
    assert [each.title for each in inbox_of(ground.alice).archived] == ["Two"]
    third.refresh_from_db()
    archive_thread(second, archived=False)
    assert set(states(ground.alice)) == {"One", "Two", "Three"}


@pytest.mark.parametrize(("name", "field"), [("pin_thread", "pinned"), ("archive_thread", "archived")])
def test_a_mark_is_set_as_said_or_turned_round(ground, name, field):
    thread = ground.open("Go")
    browser = signed_in(ground.alice, **HTMX)

    marks = []
    for data in ({"on": "true"}, {"on": "true"}, {"on": "false"}, {}, {}):
        assert browser.post(url(name, thread), data).status_code == 204
        marks.append(getattr(Thread.objects.get(), field))

    assert marks == [True, True, False, True, False]


@pytest.mark.parametrize("name", ["pin_thread", "archive_thread", "delete_thread"])
def test_a_sub_chat_follows_its_conversation(ground, name):
    ground.assistant("stock", script=["Five."])
    ground.script([DELEGATE, "Five."])
    ground.open("How many?")
    run_all()
    child = Thread.objects.exclude(parent=None).get()

    answer = signed_in(ground.alice).post(url(name, child))

    assert answer.status_code == 400 and answer.json()["code"] == "SUBCHAT_FOLLOWS" and answer.json()["fix"]


def test_the_inbox_tells_what_waits_what_runs_and_what_is_done_at_every_depth(ground):
    ground.assistant("stock", tools=["ask_clarifying_question"], script=[ASK])
    ground.script([DELEGATE, "Five."])
    asking = ground.open("How many?")
    run_all()
    done = ground.open("Hello", assistant=ground.assistant("calm", script=["Hello."]))
    run_all()
    running = ground.open("Still going")

    inbox = inbox_of(ground.alice)

    assert [(each.thread.title, each.thread.root, each.text) for each in inbox.waiting] == [("Count", asking, "Which?")]
    # What waits through a sub-chat is listed once, by what it waits for.
    assert [(each.thread, each.state) for each in inbox.running] == [(running, "thinking")]
    assert [(each.thread, each.outcome) for each in inbox.finished] == [(done, "done")]
    page = signed_in(ground.alice).get("/inbox/").content.decode()
    assert "Which?" in page and "Still going" in page


@pytest.mark.parametrize(("state", "word"), [("thinking", "working"), ("paused", "paused")])
def test_the_inbox_says_how_what_is_under_way_stands(ground, state, word):
    thread = ground.open("Still going")
    Turn.objects.filter(thread=thread).update(state=state)

    row = inbox_row(ground, thread)

    assert word in row and "Still going" in row


def test_the_inbox_says_how_what_is_over_ended(ground):
    thread = ground.open("Hello", assistant=ground.assistant("calm", script=[{"error": "MODEL_KEY_REFUSED"}]))
    run_all()

    assert "failed" in inbox_row(ground, thread)


def inbox_row(ground, thread):
    """What the inbox says of a conversation."""
    page = read(signed_in(ground.alice).get("/inbox/").content.decode())
    return page.find(id="chat").find(href=f"/c/{thread.chat_id}/").text()


def test_a_sub_chat_in_the_list_shows_who_works_in_it(ground):
    ground.assistant("stock", script=["Five."], avatar="📦")
    ground.script([DELEGATE, "Five."])
    thread = ground.open("How many?")
    run_all()

    listed = Page(signed_in(ground.alice), thread).sidebar()

    assert "📦" in str(listed) and "Count" in str(listed)


def test_a_call_whose_outcome_nobody_knows_waits_for_its_owner(ground):
    thread = ground.open("Order it")
    turn = last_turn(thread)
    cut_off_call(turn)

    assert states(ground.alice) == {"Order it": "answer"}
    assert [(each.call.name, each.text) for each in inbox_of(ground.alice).waiting] == [("order", "order")]


def test_the_marks_are_on_every_open_page(ground):
    ground.script({"rules": [{"when": {"user": "Other"}, "reply": ASK}, {"when": {}, "reply": "Fine."}]})
    here = ground.open("Here")
    run_all()
    browser = signed_in(ground.alice)
    page = Page(browser, here)

    other = ground.open("Other")
    page.poll()
    working = page.sidebar()
    run_all()
    page.poll()
    asking = page.sidebar()
    browser.post(url("answer_question", last_turn(other).calls.get()), {"option": "red"})
    run_all()
    page.poll()
    unread = page.sidebar()
    see(browser, other)
    page.poll()

    assert [text for text in ("working", "your answer", "unread") if text in working] == ["working"]
    assert "your answer" in asking and "unread" in unread and "unread" not in page.sidebar()
    assert said(other, "Other").state == "complete"
