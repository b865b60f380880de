"""Reports E1 to E4: delete, regenerate, edit, and what becomes of the tree of messages."""

import pytest

from assistants.conversations.deletion import delete_thread
from assistants.errors import CodedError
from assistants.models import Message, Thread, ToolCall, Turn, TurnEvent
from assistants.turns import branches, executors, lifecycle
from assistants.turns.outline import outline_of
from tests.kit.browsers import signed_in
from tests.kit.meanwhile import run_and
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.words import run_with_rests, said, shown, url

SLOW = {"text": "word " * 40, "delta_chars": 5, "delay_ms": 2}
FAILS = {"rules": [{"when": {}, "reply": {"text": "Half an", "error": "MODEL_UNAVAILABLE"}}]}


def test_report_e1_deleting_in_mid_stream_stops_first_and_refuses_late_writes(ground):
    ground.script([SLOW])
    thread = ground.open("Tell me")

    run_and(lambda: delete_thread(thread, by=ground.alice, name="Alice"), chars=20)

    left = [model.objects.count() for model in (Thread, Message, Turn, ToolCall, TurnEvent)]
    assert left == [0, 0, 0, 0, 0]
    assert executors.rung == []


def test_report_e1_deleting_takes_running_sub_chats_along(ground):
    ground.assistant("stock", script=[SLOW])
    call = {"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}
    ground.script([{"calls": [call]}, "Never written."])
    thread = ground.open("How many?")
    other = ground.open("Something else", assistant=ground.assistant("calm", script=["Yes."]))

    run_and(lambda: delete_thread(thread, by=ground.alice, name="Alice"), chars=20)

    assert list(Thread.objects.all()) == [other]
    assert not Turn.objects.exclude(thread=other).exists()


def test_report_e1_deleting_takes_queued_messages_along_instead_of_starting_them(ground):
    ground.script([SLOW, "Must not be asked."])
    thread = ground.open("Tell me")
    lifecycle.send_message(thread, author=ground.alice, text="And then?")

    run_and(lambda: delete_thread(thread, by=ground.alice, name="Alice"), chars=20)

    assert not Thread.objects.exists() and not Message.objects.exists() and not Turn.objects.exists()


def test_report_e1_a_sub_chat_is_not_deleted_alone(ground):
    ground.assistant("stock", script=["42."])
    call = {"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}
    ground.script([{"calls": [call]}, "There are 42."])
    ground.open("How many?")
    run_all()
    child = Thread.objects.exclude(parent=None).get()

    with pytest.raises(CodedError) as caught:
        delete_thread(child, by=ground.alice, name="Alice")

    assert caught.value.code == "SUBCHAT_FOLLOWS" and caught.value.fix


def test_report_e2_three_failed_regenerations_leave_a_conversation_that_opens(ground):
    thread = ground.open("Hi")
    run_all()
    ground.script(FAILS)
    for _ in range(3):
        lifecycle.retry_turn(last_turn(thread))
        run_with_rests()

    page = signed_in(ground.alice).get(url("thread", thread))

    failed = thread.turns.filter(state=Turn.State.FAILED)
    siblings = outline_of(thread.pk).siblings(said(thread, "Hello from the lead.").pk)
    thread.refresh_from_db()
    assert failed.count() == 3 and siblings.count == 4
    assert thread.leaf.turn == failed.order_by("-pk").first()
    assert page.status_code == 200 and page.content.decode().count('class="note failed"') == 1


def test_report_e2_a_later_success_takes_the_failures_note_away(ground):
    ground.script(FAILS)
    thread = ground.open("Hi")
    run_with_rests()
    ground.script(["Back again."])

    lifecycle.retry_turn(last_turn(thread))
    run_all()

    page = signed_in(ground.alice).get(url("thread", thread)).content.decode()
    assert shown(thread) == ["Hi", "Back again."] and 'class="note failed"' not in page


def test_report_e2_the_answer_that_is_replaced_is_not_part_of_the_next_prompt(ground):
    ground.script({"rules": [{"when": {}, "reply": "Replies before: none."}]})
    thread = ground.open("Hi")
    run_all()

    lifecycle.retry_turn(last_turn(thread))
    run_all()

    from assistants.llm import scripted

    assert scripted.requests(ground.lead.profile.model)[-1].conversation().replies == 0


@pytest.mark.parametrize("leaf", ["gone", "moved"])
def test_report_e3_a_pointer_that_leads_nowhere_is_put_right(ground, leaf):
    thread = ground.open("Hi")
    run_all()
    Thread.objects.filter(pk=thread.pk).update(leaf=None)
    if leaf == "moved":
        lifecycle.send_message(thread, author=ground.alice, text="Still there?")
        run_all()

    page = signed_in(ground.alice).get(url("thread", thread))

    assert page.status_code == 200 and "Hello from the lead." in page.content.decode()
    assert shown(thread)[:2] == ["Hi", "Hello from the lead."]


def test_report_e3_a_message_taken_back_at_once_leaves_the_conversation_as_it_was(ground):
    ground.script([SLOW, "Never asked."])
    thread = ground.open("Tell me")
    browser = signed_in(ground.alice)

    def send_and_take_back():
        lifecycle.send_message(thread, author=ground.alice, text="Oh wait")
        return browser.post(url("unqueue", last_turn(thread))).json()

    taken = run_and(send_and_take_back, chars=20)

    assert taken["text"] == "Oh wait"
    assert shown(thread) == ["Tell me", SLOW["text"]] and thread.turns.count() == 1
    assert browser.get(url("thread", thread)).status_code == 200


def test_report_e4_an_edited_message_is_a_sibling_and_nothing_is_removed(ground):
    ground.script({"rules": [{"when": {"user": "red"}, "reply": "Red."}, {"when": {}, "reply": "Blue."}]})
    thread = ground.open("Paint it blue")
    run_all()
    lifecycle.send_message(thread, author=ground.alice, text="And the door")
    run_all()

    branches.edit_message(said(thread, "Paint it blue"), author=ground.alice, text="Paint it red")
    run_all()

    assert shown(thread) == ["Paint it red", "Red."]
    branches.show_branch(said(thread, "Paint it blue"))
    assert shown(thread) == ["Paint it blue", "Blue.", "And the door", "Blue."]
    branches.show_branch(said(thread, "Paint it red"))
    assert shown(thread) == ["Paint it red", "Red."]
    assert replies(thread) == ["Blue.", "Blue.", "Red."]


def test_report_e4_a_branch_goes_on_from_its_own_tail(ground):
    ground.script({"rules": [{"when": {}, "reply": "You said: {{user}}"}]})
    thread = ground.open("One")
    run_all()
    branches.edit_message(said(thread, "One"), author=ground.alice, text="Uno")
    run_all()
    branches.show_branch(said(thread, "One"))

    lifecycle.send_message(thread, author=ground.alice, text="Two")
    run_all()

    assert shown(thread) == ["One", "You said: One", "Two", "You said: Two"]


def test_report_e4_reading_another_branch_is_not_disturbed_by_an_answer_that_still_grows(ground):
    ground.script(["First.", SLOW])
    thread = ground.open("One")
    run_all()
    branches.edit_message(said(thread, "One"), author=ground.alice, text="Uno")
    ground.script({"rules": [{"when": {"user": "Uno"}, "reply": SLOW}]})

    run_and(lambda: branches.show_branch(said(thread, "One")), chars=20)

    assert shown(thread) == ["One", "First."]
    branches.show_branch(said(thread, "Uno"))
    assert shown(thread) == ["Uno", SLOW["text"]]


def test_report_e4_a_message_is_not_edited_while_an_answer_grows(ground):
    ground.script([SLOW])
    thread = ground.open("Tell me")
    browser = signed_in(ground.alice)

    def edit():
        return browser.post(url("edit_message", said(thread, "Tell me")), {"text": "Tell me more"})

    refused = run_and(edit, chars=20)

    assert refused.status_code == 400 and refused.json()["code"] == "TURN_ACTIVE"
    assert shown(thread) == ["Tell me", SLOW["text"]]


def test_report_e4_answers_and_replies_are_not_edited(ground):
    ask = {"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}
    ground.script([{"calls": [ask]}, "Fine."])
    thread = ground.open("Do it")
    run_all()
    browser = signed_in(ground.alice)
    browser.post(url("answer_question", last_turn(thread).calls.get()), {"option": "a"})
    run_all()

    answer, reply = thread.messages.filter(role="user").last(), said(thread, "Fine.")
    codes = [browser.post(url("edit_message", each), {"text": "x"}).json()["code"] for each in (answer, reply)]

    assert codes == ["NOT_EDITABLE", "NOT_EDITABLE"]
