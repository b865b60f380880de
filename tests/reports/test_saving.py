"""Reports P1 to P6: what is stored is complete, in order, and the same live and after a reload."""

import pytest
from django.db import transaction

from assistants.errors import LeaseLost
from assistants.models import Message, Thread, Turn, TurnEvent
from assistants.turns import lifecycle
from assistants.turns.claims import claim_turn, expire_slot, holding
from tests.kit.browsers import signed_in
from tests.kit.meanwhile import run_and
from tests.kit.page import Page
from tests.kit.turns import last_turn, run_all
from tests.kit.words import shown, url

ECHO = {"rules": [{"when": {}, "reply": "You said: {{user}}"}]}
SLOW = {"text": "word " * 40, "delta_chars": 5, "delay_ms": 5}
ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["red", "blue"]}}]}


def test_report_p1_a_late_write_of_an_older_runner_never_replaces_a_newer_one(ground):
    thread = ground.open("Hi")
    late = claim_turn(last_turn(thread).pk, holder="slow:1")
    expire_slot("slow", but="")
    run_all()
    assert shown(thread) == ["Hi", "Hello from the lead."]

    with pytest.raises(LeaseLost), holding(late):
        Message.objects.filter(thread=thread, role="assistant").update(parts=[])

    assert shown(thread) == ["Hi", "Hello from the lead."]


def test_report_p2_a_conversation_and_its_first_message_are_stored_together_or_not_at_all(ground, monkeypatch):
    def full_disk(*args, **kwargs):
        raise OSError("no space left")

    monkeypatch.setattr("assistants.turns.lifecycle.begin_turn", full_disk)
    with pytest.raises(OSError), transaction.atomic():
        ground.open("Hi")
    monkeypatch.undo()

    assert not Thread.objects.exists() and not Message.objects.exists()
    thread = ground.open("Hi again")
    assert "Hi again" in signed_in(ground.alice).get(url("thread", thread)).content.decode()


def test_report_p3_after_a_reload_messages_stand_in_the_order_in_which_they_were_said(ground):
    ground.script(ECHO)
    thread = ground.open("One")
    run_all()
    for text in ("Two", "Three"):
        lifecycle.send_message(thread, author=ground.alice, text=text)
        run_all()
    # Neither the order of the rows nor the clock may decide.
    Message.objects.filter(thread=thread, role="user").update(created="2001-01-01T00:00:00Z")

    page = Page(signed_in(ground.alice), thread)

    assert page.texts() == ["One", "You said: One", "Two", "You said: Two", "Three", "You said: Three"]


STORIES = {
    "an answer": (["A **bold** answer.\n\n```python\nprint(1)\n```"], []),
    "a tool round": ([{"text": "Let me look.", "reasoning": "Hm.", "calls": [{"name": "current_time"}]}, "Late."], []),
    "a question answered": ([ASK, "Red it is."], ["answer"]),
    "a plain message instead of an answer": ([ASK, "Fine."], ["send"]),
    "a failure and a retry": ([{"text": "Half", "error": "MODEL_REFUSED"}, "Better."], ["retry"]),
    "another wording": ([["One."], ["Two."]], ["edit"]),
    "a new title": (["Hello."], ["rename"]),
    "one queued, one taken back": (["One.", "Two."], ["queue", "unqueue"]),
}


@pytest.mark.parametrize("story", STORIES)
def test_report_p4_what_was_seen_live_is_what_is_there_after_a_reload(ground, story):
    script, steps = STORIES[story]
    ground.script(script if not isinstance(script[0], list) else {"steps": script[0], "forever": True})
    browser = signed_in(ground.alice)
    thread = ground.open("Go")
    page = Page(browser, thread)
    run_all()
    page.poll()

    for step in steps:
        take(step, browser, thread, ground)
        page.poll()
        run_all()
        page.poll()

    assert page.parts() == Page(browser, thread).parts()


def take(step, browser, thread, ground):
    """One thing that a person does."""
    turn = last_turn(thread)
    match step:
        case "answer":
            browser.post(url("answer_question", turn.calls.get()), {"option": "red", "text": "dark"})
        case "send":
            browser.post(url("send_message", thread), {"text": "Explain first", "key": "k"})
        case "retry":
            ground.script(["Better."])
            browser.post(url("retry_turn", turn))
        case "edit":
            browser.post(url("edit_message", thread.messages.first()), {"text": "Go on"})
        case "rename":
            browser.post(url("rename_thread", thread), {"title": "A better name"})
        case "queue":
            browser.post(url("send_message", thread), {"text": "First"})
            browser.post(url("send_message", thread), {"text": "Second"})
        case "unqueue":
            lifecycle.send_message(thread, author=ground.alice, text="Third")
            browser.post(url("stop_turn", thread.turns.order_by("-pk").first()))


def test_report_p4_a_reload_in_mid_stream_shows_the_text_so_far_and_polling_brings_the_rest(ground):
    ground.script([SLOW])
    browser = signed_in(ground.alice)
    thread = ground.open("Tell me")

    page = run_and(lambda: Page(browser, thread), chars=50)
    early = page.texts()[1]
    page.poll()

    assert SLOW["text"].startswith(early) and len(early) >= 45
    assert page.parts() == Page(browser, thread).parts()


def test_report_s1_polling_in_mid_stream_brings_the_growing_text(ground):
    ground.script([SLOW])
    browser = signed_in(ground.alice)
    thread = ground.open("Tell me")
    page = Page(browser, thread)

    def look():
        page.poll()
        return page.texts()[1]

    early = run_and(look, chars=50)

    assert SLOW["text"].startswith(early) and len(early) >= 45


def test_report_p5_a_new_conversation_is_in_every_list_at_once(ground):
    browser = signed_in(ground.alice)
    thread = ground.open("Already here")
    run_all()
    page = Page(browser, thread)

    browser.post("/c/", {"assistant": ground.lead.pk, "text": "Brand new", "key": "n"})
    page.poll()

    assert "Brand new" in page.sidebar()
    run_all()
    reopened = Page(browser, Thread.objects.get(title="Brand new"))
    assert reopened.texts() == ["Brand new", "Hello from the lead."]


def test_report_p6_event_numbers_grow_without_holes_across_turns_of_one_conversation(ground):
    ground.script(ECHO)
    thread, other = ground.open("One"), ground.open("Elsewhere")
    for text in ("Two", "Three"):
        lifecycle.send_message(thread, author=ground.alice, text=text)
        lifecycle.send_message(other, author=ground.alice, text=text)
    run_all()

    events = list(TurnEvent.objects.filter(thread=thread).order_by("pk").values_list("number", flat=True))
    assert events == list(range(1, len(events) + 1))
    order = [e.payload["turn"] for e in thread.events.filter(kind="turn").order_by("number")]
    assert order == sorted(order) and set(order) == set(Turn.objects.filter(thread=thread).values_list("pk", flat=True))


def test_report_p6_a_page_that_comes_back_during_the_next_turn_gets_everything_in_order(ground):
    ground.script(ECHO)
    browser = signed_in(ground.alice)
    thread = ground.open("One")
    page = Page(browser, thread)
    run_all()
    lifecycle.send_message(thread, author=ground.alice, text="Two")

    page.poll()
    assert page.texts() == ["One", "You said: One", "Two"]
    run_all()
    page.poll()

    assert page.texts() == ["One", "You said: One", "Two", "You said: Two"]
