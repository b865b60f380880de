"""What waits behind a running turn, and copies of conversations."""

import pytest

from assistants.conversations.forks import fork_thread
from assistants.errors import CodedError
from assistants.llm import scripted
from assistants.models import Assistant, Thread, ToolCall, Turn
from assistants.turns import branches, lifecycle, queue, refusals
from tests.kit.browsers import HTMX, PAGE, signed_in
from tests.kit.meanwhile import run_and
from tests.kit.page import Page
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.words import said, shown, url

ECHO = {"rules": [{"when": {}, "reply": "You said: {{user}}"}]}
SLOW = {"text": "word " * 40, "delta_chars": 5, "delay_ms": 5}


def test_a_message_that_is_taken_back_gives_its_text_and_was_never_read(ground):
    ground.script(ECHO)
    thread = ground.open("One")
    lifecycle.send_message(thread, author=ground.alice, text="Two\n  with a second line")

    answer = signed_in(ground.alice, **HTMX).post(url("unqueue", last_turn(thread)))
    run_all()

    assert answer.json()["text"] == "Two\n  with a second line"
    assert shown(thread) == ["One", "You said: One"] and thread.messages.filter(role="user").count() == 1


def test_without_a_script_a_message_that_is_taken_back_stands_in_a_form(ground):
    thread = ground.open("One")
    lifecycle.send_message(thread, author=ground.alice, text="Two & more")

    page = signed_in(ground.alice, **PAGE).post(url("unqueue", last_turn(thread))).content.decode()

    assert "Two &amp; more</textarea>" in page and url("send_message", thread) in page


def test_the_queue_is_bounded_and_says_so(ground, monkeypatch):
    monkeypatch.setattr(refusals, "MAX_QUEUED", 2)
    thread = ground.open("One")
    for text in ("Two", "Three"):
        lifecycle.send_message(thread, author=ground.alice, text=text)

    with pytest.raises(CodedError) as caught:
        lifecycle.send_message(thread, author=ground.alice, text="Four")

    assert caught.value.code == "QUEUE_FULL" and thread.messages.filter(role="user").count() == 3


def test_a_queued_message_whose_assistant_was_switched_off_ends_visibly(ground):
    ground.script(ECHO)
    thread = ground.open("One")
    lifecycle.send_message(thread, author=ground.alice, text="Two")
    Assistant.objects.filter(pk=ground.lead.pk).update(enabled=False)

    run_all()

    assert [turn.state for turn in thread.turns.order_by("pk")] == ["failed", "failed"]
    assert {turn.reason for turn in thread.turns.all()} == {"assistant_disabled"} and last_turn(thread).note
    assert scripted.requests(ground.lead.profile.model) == []
    page = Page(signed_in(ground.alice), thread)
    assert page.texts() == ["One", "Two"] and page.at("log").text().count("switched off or deleted") == 2


@pytest.mark.parametrize("command", ["send_message", "retry_turn", "edit_message"])
def test_nothing_is_begun_with_an_assistant_that_is_switched_off(ground, command):
    thread = ground.open("One")
    run_all()
    Assistant.objects.filter(pk=ground.lead.pk).update(enabled=False)
    subject = {"send_message": thread, "retry_turn": last_turn(thread), "edit_message": said(thread, "One")}[command]

    answer = signed_in(ground.alice).post(url(command, subject), {"text": "Two"})

    assert answer.status_code == 400 and answer.json()["code"] == "ASSISTANT_DISABLED" and thread.turns.count() == 1


def test_an_answer_is_not_asked_for_again_while_another_grows_or_waits(ground):
    ground.script([SLOW, "Two."])
    thread = ground.open("One")
    browser = signed_in(ground.alice)

    def retry_both():
        lifecycle.send_message(thread, author=ground.alice, text="Two")
        return [browser.post(url("retry_turn", turn)).json()["code"] for turn in thread.turns.order_by("pk")]

    codes = run_and(retry_both, chars=20)

    assert codes == ["TURN_ACTIVE", "TURN_ACTIVE"] and thread.turns.count() == 2


def test_a_held_message_is_not_asked_for_again_before_it_was_sent(ground):
    ask = {"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}
    ground.script([{**SLOW, "calls": [ask]}])
    thread = ground.open("One")
    run_and(lambda: lifecycle.send_message(thread, author=ground.alice, text="Two"), chars=20)

    with pytest.raises(CodedError) as caught:
        lifecycle.retry_turn(last_turn(thread))

    assert caught.value.code == "NOTHING_TO_RETRY"


def test_the_order_of_the_rest_stays_when_one_goes_first(ground):
    ground.script(ECHO)
    thread = ground.open("One")
    for text in ("Two", "Three", "Four"):
        lifecycle.send_message(thread, author=ground.alice, text=text)

    queue.send_now(last_turn(thread), by=ground.alice, name="Alice")
    run_all()

    assert [text for text in shown(thread) if not text.startswith("You")] == ["One", "Four", "Two", "Three"]


def test_a_fork_copies_the_branch_up_to_the_message_and_both_go_on_apart(ground):
    ground.script(ECHO)
    thread = ground.open("One")
    run_all()
    lifecycle.send_message(thread, author=ground.alice, text="Two")
    run_all()

    fork = fork_thread(said(thread, "You said: One"), owner=ground.alice)
    lifecycle.send_message(fork, author=ground.alice, text="Zwei")
    run_all()

    assert shown(fork) == ["One", "You said: One", "Zwei", "You said: Zwei"]
    assert shown(thread) == ["One", "You said: One", "Two", "You said: Two"]
    assert (fork.title, fork.parent, fork.assistant, fork.owner) == ("One (2)", None, ground.lead, ground.alice)
    assert fork_thread(said(thread, "One"), owner=ground.alice).title == "One (3)"


def test_a_fork_keeps_calls_and_answers_and_costs_nothing(ground):
    ask = {"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}
    ground.script([{"calls": [{"name": "current_time"}]}, {"calls": [ask]}, "Fine.", "Again."])
    thread = ground.open("One")
    run_all()
    browser = signed_in(ground.alice)
    browser.post(url("answer_question", ToolCall.objects.get(name="ask_clarifying_question")), {"option": "a"})
    run_all()

    fork = fork_thread(said(thread, "Fine."), owner=ground.alice)

    copied = ToolCall.objects.filter(turn__thread=fork).order_by("turn_id", "round")
    assert [(call.name, call.outcome) for call in copied] == [("current_time", "ok"), ("ask_clarifying_question", "ok")]
    answered = fork.messages.get(role="user", parts__1__call=str(copied[1].pk))
    assert answered.text.startswith("My answer") and copied[1].answer["chosen"] == ["a"]
    assert sum(turn.input_tokens + turn.model_calls for turn in fork.turns.all()) == 0
    assert not ToolCall.objects.filter(turn__thread=fork, message__thread=thread).exists()
    assert Page(browser, fork).texts() == Page(browser, thread).texts()
    lifecycle.send_message(fork, author=ground.alice, text="More")
    run_all()
    assert replies(fork)[-1] == "Again."


def test_a_fork_with_an_open_question_can_be_answered_by_itself(ground):
    ask = {"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}
    ground.script([{"calls": [ask]}, "Fine."])
    ground.open("One")
    run_all()
    original = ToolCall.objects.get()

    fork = fork_thread(original.message, owner=ground.alice)
    signed_in(ground.alice).post(url("answer_question", ToolCall.objects.get(turn__thread=fork)), {"option": "b"})
    run_all()

    original.refresh_from_db()
    assert replies(fork)[-1] == "Fine." and original.answer is None


def test_a_growing_answer_is_not_forked_and_a_repeated_click_makes_one_copy(ground):
    ground.script([SLOW])
    thread = ground.open("One")
    browser = signed_in(ground.alice)

    def fork_reply():
        return browser.post(url("fork_thread", thread.messages.get(role="assistant")))

    refused = run_and(fork_reply, chars=20)
    places = [browser.post(url("fork_thread", said(thread, "One")), {"key": "f1"})["Location"] for _ in range(2)]

    assert refused.status_code == 400 and refused.json()["code"] == "TURN_ACTIVE"
    assert places[0] == places[1] and Thread.objects.count() == 2


def test_a_sub_chat_is_forked_into_a_conversation_of_ones_own_with_its_prompt(ground):
    ground.assistant("stock", script=["Five.", "Six."])
    call = {"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count", "context": "Hall 2"}}
    ground.script([{"calls": [call]}, "Five."])
    thread = ground.open("How many?")
    run_all()
    child = Thread.objects.get(parent=thread)

    fork = fork_thread(said(child, "Five."), owner=ground.alice)
    lifecycle.send_message(fork, author=ground.alice, text="And now?")
    run_all()

    assert fork.parent is None and fork.root is None and shown(fork) == ["Count", "Five.", "And now?", "Six."]
    assert "Hall 2" in scripted.requests("apes-stock")[-1].conversation().system


def test_siblings_are_told_with_the_message_and_can_be_walked_through(ground):
    ground.script(ECHO)
    thread = ground.open("One")
    run_all()
    first = said(thread, "One")
    for text in ("Uno", "Un"):
        branches.edit_message(first, author=ground.alice, text=text)
        run_all()
    browser = signed_in(ground.alice, **HTMX)

    page = Page(browser, thread)
    middle = said(thread, "Uno")
    browser.post(url("show_branch", middle))
    page.poll()

    log = page.at("log")
    assert "2/3" in log.text() and page.texts() == ["Uno", "You said: Uno"]
    assert log.find(formaction=url("show_branch", first)) and log.find(formaction=url("show_branch", said(thread, "Un")))
    assert page.parts() == Page(browser, thread).parts()


def test_showing_the_branch_that_is_shown_changes_nothing(ground):
    thread = ground.open("One")
    run_all()
    before = Thread.objects.get().last_event

    branches.show_branch(said(thread, "One"))

    assert Thread.objects.get().last_event == before and Turn.objects.count() == 1
