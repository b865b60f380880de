"""Reports S8 to S15 on the server's side: one answer for one message, in one order."""

import pytest

from assistants.llm import scripted
from assistants.models import Message, Turn
from assistants.turns import lifecycle
from tests.kit.browsers import HTMX, signed_in
from tests.kit.meanwhile import run_and
from tests.kit.turns import commit_hooks, last_turn, replies, run_all
from tests.kit.words import said, shown, url

SLOW = {"text": "word " * 40, "delta_chars": 5, "delay_ms": 2}
ECHO = {"rules": [{"when": {}, "reply": "You said: {{user}}"}]}


def test_report_s8_without_streaming_the_answer_is_stored_and_drawn_once(ground):
    profile = ground.lead.profile
    profile.streaming = False
    profile.save()
    ground.script(["Only once, please."])
    thread = ground.open("Hi")

    run_all()

    page = signed_in(ground.alice).get(url("thread", thread)).content.decode()
    assert replies(thread) == ["Only once, please."] and page.count("Only once, please.") == 1


def test_report_s9_the_final_text_after_a_tool_round_is_written_once(ground):
    ground.script([{"text": "Let me look.", "reasoning": "Hm.", "calls": [{"name": "current_time"}]}, "It is late."])
    thread = ground.open("What time is it?")

    run_all()

    page = signed_in(ground.alice).get(url("thread", thread)).content.decode()
    assert replies(thread) == ["Let me look.", "It is late."]
    assert page.count("Let me look.") == 1 and page.count("It is late.") == 1


def test_report_s10_a_message_sent_twice_is_answered_once(ground):
    thread = ground.open("Hi")
    run_all()
    ground.script(ECHO)
    browser = signed_in(ground.alice)

    answers = [browser.post(url("send_message", thread), {"text": "Again", "key": "k1"}, headers=HTMX) for _ in range(3)]
    run_all()

    assert [answer.status_code for answer in answers] == [204, 204, 204]
    assert thread.turns.count() == 2 and len(scripted.requests(ground.lead.profile.model)) == 1


def test_report_s10_a_repeat_after_a_retry_still_returns_the_first_message(ground):
    thread = ground.open("Hi")
    sent = lifecycle.send_message(thread, author=ground.alice, text="Again", client_key="k1")
    run_all()
    lifecycle.retry_turn(last_turn(thread))
    run_all()

    repeat = lifecycle.send_message(thread, author=ground.alice, text="Again", client_key="k1")

    assert repeat.repeated and repeat.message == sent.message and repeat.turn == sent.turn


def test_report_s10_a_conversation_opened_twice_is_one(ground):
    browser = signed_in(ground.alice)
    first = {"assistant": ground.lead.pk, "text": "Hi", "key": "new1"}

    pages = [browser.post("/c/", first) for _ in range(2)]
    run_all()

    assert pages[0]["Location"] == pages[1]["Location"]
    assert ground.alice.threads.count() == 1 and Turn.objects.count() == 1


def test_report_s12_messages_stand_in_the_servers_order(ground):
    ground.script(ECHO)
    here, there = ground.open("One"), ground.open("Elsewhere")
    run_all()
    for thread, text in ((here, "Two"), (there, "More"), (here, "Three")):
        lifecycle.send_message(thread, author=ground.alice, text=text)
    run_all()

    assert shown(here) == ["One", "You said: One", "Two", "You said: Two", "Three", "You said: Three"]
    assert shown(there) == ["Elsewhere", "You said: Elsewhere", "More", "You said: More"]


def test_report_s12_the_draft_goes_when_the_message_was_accepted_and_stays_when_it_was_refused(ground):
    """The page clears its box after a success and keeps it after anything else."""
    thread = ground.open("Hi")
    run_all()
    browser = signed_in(ground.alice, **HTMX)

    accepted = browser.post(url("send_message", thread), {"text": "Good"})
    refused = browser.post(url("send_message", thread), {"text": "x" * (256 * 1024 + 1)})

    assert accepted.status_code == 204
    assert refused.status_code == 400 and refused.json()["field"] == "text" and "kept" in refused.json()["message"]


def test_report_s13_a_message_right_after_a_stop_follows_the_stopped_answer(ground):
    ground.script([SLOW, "Next."])
    thread = ground.open("Tell me")

    def stop_and_send():
        lifecycle.stop_turn(last_turn(thread).pk, by="Alice")
        lifecycle.send_message(thread, author=ground.alice, text="Shorter")

    run_and(stop_and_send, chars=20)

    stopped = thread.messages.get(state=Message.State.STOPPED)
    assert said(thread, "Shorter").parent == stopped and SLOW["text"].startswith(stopped.text) and stopped.text
    request = scripted.requests(ground.lead.profile.model)[-1]
    assert [part.content for message in request.messages for part in message.parts][1:] == ["Tell me", stopped.text, "Shorter"]


def test_report_s14_two_messages_at_once_give_one_active_turn_and_one_queue(ground):
    ground.script(ECHO)
    thread = ground.open("One")

    lifecycle.send_message(thread, author=ground.alice, text="Two")
    lifecycle.send_message(thread, author=ground.alice, text="Three")

    states = list(thread.turns.order_by("pk").values_list("state", flat=True))
    assert states == ["thinking", "queued", "queued"]
    run_all()
    assert shown(thread) == ["One", "You said: One", "Two", "You said: Two", "Three", "You said: Three"]


def test_report_s14_a_message_sent_while_the_provider_returns_nothing_does_not_fork_the_chat(ground):
    from tests.kit.words import run_with_rests

    ground.script({"rules": [{"when": {"user": "One"}, "reply": ""}, {"when": {}, "reply": "Here."}]})
    thread = ground.open("One")

    lifecycle.send_message(thread, author=ground.alice, text="Two")
    run_with_rests()

    assert shown(thread) == ["One", "", "Two", "Here."]
    assert not thread.turns.active().exists()


def test_report_s15_send_now_sends_only_that_message(ground):
    ground.script({"rules": [{"when": {"user": "One"}, "reply": SLOW}, {"when": {}, "reply": "You said: {{user}}"}]})
    thread = ground.open("One")
    browser = signed_in(ground.alice)
    seen = []

    def queue_two_and_send_the_second():
        lifecycle.send_message(thread, author=ground.alice, text="Two")
        lifecycle.send_message(thread, author=ground.alice, text="Three")
        third = thread.turns.get(user_message=said(thread, "Three"))
        answer = browser.post(url("send_now", third), headers=HTMX)
        seen.extend(thread.turns.order_by("pk").values_list("state", "user_message__state"))
        return answer

    answer = run_and(queue_two_and_send_the_second, chars=20)

    assert answer.status_code == 204
    assert seen == [("stopped", "complete"), ("thinking", "complete"), ("queued", "queued")]
    assert shown(thread)[2:] == ["Three", "You said: Three", "Two", "You said: Two"]


def test_report_s15_a_message_that_was_sent_is_neither_sent_again_nor_taken_back(ground):
    thread = ground.open("One")
    lifecycle.send_message(thread, author=ground.alice, text="Two")
    waiting = last_turn(thread)
    browser = signed_in(ground.alice)
    run_all()

    codes = [browser.post(url(name, waiting)).json()["code"] for name in ("send_now", "unqueue")]

    assert codes == ["NOT_QUEUED", "NOT_QUEUED"] and thread.messages.filter(role="user").count() == 2


@pytest.mark.parametrize("stopped", ["first", "second"])
def test_report_s15_stopping_one_of_two_queued_messages_leaves_the_other(ground, stopped):
    ground.script(ECHO)
    thread = ground.open("One")
    lifecycle.send_message(thread, author=ground.alice, text="Two")
    lifecycle.send_message(thread, author=ground.alice, text="Three")
    turn = thread.turns.filter(state=Turn.State.QUEUED).order_by("pk")[0 if stopped == "first" else 1]

    lifecycle.stop_turn(turn.pk, by="Alice")
    commit_hooks()
    run_all()

    left = "Three" if stopped == "first" else "Two"
    assert shown(thread) == ["One", "You said: One", left, f"You said: {left}"]
