"""Reports Q5 to Q18 on the server's side: a question is kept, answered once, and never answered by accident."""

import json

import pytest

from assistants.models import LLMProfile, Thread, ToolCall, Turn
from assistants.turns import branches, lifecycle, questions
from tests.kit.browsers import HTMX, PROGRAM, signed_in, stranger
from tests.kit.meanwhile import run_and
from tests.kit.page import Page
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.words import cut_off_call, said, shown, url

QUESTION = {"question": "Which returns?", "options": ["Units", "Refunds"]}
ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": QUESTION}]}


def asked(ground, then="Thanks."):
    ground.script(["Hello.", ASK, then])
    thread = ground.open("Hi")
    run_all()
    lifecycle.send_message(thread, author=ground.alice, text="Returns?")
    run_all()
    return thread, last_turn(thread).calls.get()


def test_report_q5_a_pending_question_stands_in_its_place_and_the_history_above_it(ground):
    thread, call = asked(ground)

    page = Page(signed_in(ground.alice), thread)

    assert page.texts()[:3] == ["Hi", "Hello.", "Returns?"]
    card = page.at(f"c{call.pk.hex}")
    assert "Which returns?" in card.text() and "Send answer" in card.text()


def test_report_q6_q7_an_answer_resumes_at_once_and_everything_else_works_meanwhile(ground):
    thread, call = asked(ground)
    browser = signed_in(ground.alice, **HTMX)

    meanwhile = [
        browser.post(url("rename_thread", thread), {"title": "Returns"}).status_code,
        browser.post("/preferences/", {"theme": "dark"}).status_code,
        browser.post("/c/", {"assistant": ground.lead.pk, "text": "Another"}).status_code,
    ]
    answered = browser.post(url("answer_question", call), {"option": "Units"})
    run_all()

    assert meanwhile == [204, 204, 204] and answered.status_code == 204
    assert replies(thread)[-1] == "Thanks."


def test_report_q8_a_pending_question_survives_a_reload_and_a_plain_message_answers_it(ground):
    thread, call = asked(ground)
    browser = signed_in(ground.alice)
    assert "Send answer" in Page(browser, thread).at(f"c{call.pk.hex}").text()

    answer = browser.post(url("send_message", thread), {"text": "Those of week 47", "key": "k"}, headers=HTMX)
    run_all()

    call.refresh_from_db()
    assert answer.status_code == 204 and replies(thread)[-1] == "Thanks."
    assert (call.answer["text"], call.answer["plain"], call.answer["chosen"]) == ("Those of week 47", True, [])


def test_report_q8_a_message_that_was_queued_before_the_question_is_no_answer_to_it(ground):
    """Silence is never an answer (Q2); the message goes on waiting until the person has answered."""
    slow = {"text": "word " * 40, "delta_chars": 5, "delay_ms": 5, **ASK}
    ground.script([slow, "Thanks.", "And that too."])
    thread = ground.open("Returns?")
    run_and(lambda: lifecycle.send_message(thread, author=ground.alice, text="Also print them"), chars=20)
    call = ToolCall.objects.get()
    assert call.answer is None and last_turn(thread).state == Turn.State.QUEUED

    questions.answer(call, by=ground.alice, chosen=["Units"], text="")
    run_all()

    assert [text for text in shown(thread) if "word" not in text] == [
        "Returns?", "My answer to “Which returns?”:\n- Units", "Thanks.", "Also print them", "And that too.",
    ]  # fmt: skip


def test_report_q8_sending_the_queued_message_now_makes_it_the_answer(ground):
    slow = {"text": "word " * 40, "delta_chars": 5, "delay_ms": 5, **ASK}
    ground.script([slow, "Thanks."])
    thread = ground.open("Returns?")
    run_and(lambda: lifecycle.send_message(thread, author=ground.alice, text="The units"), chars=20)

    signed_in(ground.alice).post(url("send_now", last_turn(thread)))
    run_all()

    call = ToolCall.objects.get()
    assert call.answer["text"] == "The units" and call.answer["plain"] and replies(thread)[-1] == "Thanks."


def test_report_q9_an_answered_question_is_read_only_and_a_second_answer_is_refused(ground):
    thread, call = asked(ground)
    browser = signed_in(ground.alice)
    browser.post(url("answer_question", call), {"option": "Units"})
    run_all()

    second = browser.post(url("answer_question", call), {"option": "Refunds"})

    card = Page(browser, thread).at(f"c{call.pk.hex}")
    assert second.status_code == 400 and second.json()["code"] == "ALREADY_ANSWERED"
    assert "disabled" in card.find(_class="ask").attributes and "Send answer" not in card.text()
    assert thread.turns.count() == 3


def test_report_q9_a_question_on_a_branch_that_was_left_waits_for_nobody(ground):
    thread, call = asked(ground)
    branches.edit_message(said(thread, "Returns?"), author=ground.alice, text="Never mind")
    ground.script({"rules": [{"when": {}, "reply": "Fine."}]})
    run_all()

    late = signed_in(ground.alice).post(url("answer_question", call), {"option": "Units"})

    assert late.status_code == 400 and late.json()["code"] == "QUESTION_PASSED"
    branches.show_branch(said(thread, "Returns?"))
    questions.answer(call, by=ground.alice, chosen=["Units"], text="")
    run_all()
    assert shown(thread)[-2:] == ["My answer to “Which returns?”:\n- Units", "Fine."]


def test_report_q12_a_program_reads_and_answers_a_question_by_the_same_rules(ground):
    program = signed_in(ground.alice, **PROGRAM)
    ground.script([ASK, "Thanks."])

    opened = program.post("/c/", {"assistant": ground.lead.pk, "text": "Returns?", "key": "p1"}).json()
    run_all()
    thread = Thread.objects.get(chat_id=opened["chat_id"])
    state = program.get(url("thread_state", thread)).json()
    question = state["question"]
    wrong = program.post(f"/question/{question['call']}/", {"option": "Something else"})
    sent = program.post(f"/question/{question['call']}/", {"option": ["Units"], "text": "week 47"}).json()
    run_all()

    after = program.get(url("thread_state", thread)).json()
    assert (question["question"], question["options"], question["allow_free_text"]) == (
        "Which returns?",
        ["Units", "Refunds"],
        True,
    )
    assert wrong.status_code == 400 and wrong.json()["code"] == "NOT_AN_OPTION"
    assert after["question"] is None and after["turn"] == {"id": sent["turn"], "state": "done", "reason": "", "note": ""}
    assert after["messages"][-1]["text"] == "Thanks."


def test_report_q12_a_program_without_rights_reads_and_answers_nothing(ground):
    thread, call = asked(ground)
    others = [signed_in(ground.bob, **PROGRAM), signed_in(ground.charlie, **PROGRAM), stranger(**PROGRAM)]

    seen = [program.get(url("thread_state", thread)).status_code for program in others]
    answered = [program.post(url("answer_question", call), {"option": "Units"}).status_code for program in others]

    call.refresh_from_db()
    assert seen == answered == [404, 404, 401] and call.answer is None


def test_report_q13_stopping_a_turn_that_waits_for_a_decision_leaves_a_conversation_that_works(ground):
    ground.script(["Never mind then."])
    thread = ground.open("Order it")
    turn = last_turn(thread)
    call = cut_off_call(turn)
    browser = signed_in(ground.alice, **HTMX)

    browser.post(url("stop_turn", turn))
    browser.post(url("send_message", thread), {"text": "Forget it", "key": "k"})
    run_all()

    call.refresh_from_db()
    assert (call.state, call.outcome, call.needs_decision) == ("settled", "stopped", False)
    assert last_turn(thread).state == Turn.State.DONE


@pytest.mark.parametrize(("happened", "words"), [("1", "was carried out"), ("0", "was not carried out")])
def test_a_person_decides_once_how_a_cut_off_call_ended(ground, happened, words):
    """F06: the outcome is unknown to the machine, so it asks instead of repeating."""
    ground.script(["Understood."])
    thread = ground.open("Order it")
    turn = last_turn(thread)
    call = cut_off_call(turn)
    browser = signed_in(ground.alice)

    first, second = [browser.post(url("decide_call", call), {"happened": happened}, headers=HTMX) for _ in range(2)]
    run_all()

    call.refresh_from_db()
    assert (first.status_code, second.status_code) == (204, 400) and second.json()["code"] == "NOTHING_TO_DECIDE"
    assert call.outcome == "unknown" and words in call.result and last_turn(thread).state == Turn.State.DONE


def test_report_q17_an_answer_in_own_words_is_relayed_as_it_is(ground):
    from assistants.llm import scripted

    thread, call = asked(ground)

    signed_in(ground.alice).post(url("answer_question", call), {"text": "wait, explain first"})
    run_all()

    asked_with = scripted.requests(ground.lead.profile.model)[-1].conversation()
    assert asked_with.user == "My answer to “Which returns?”:\nwait, explain first"
    call.refresh_from_db()
    assert call.answer["chosen"] == [] and "approved" not in json.dumps(call.answer)


def test_report_q18_after_an_answer_the_same_assistant_with_the_same_model_goes_on(ground):
    thread, call = asked(ground)
    before = last_turn(thread)
    LLMProfile.objects.create(tenant=ground.apes, name="another", provider="scripted", model="another")

    signed_in(ground.alice).post(url("answer_question", call), {"option": "Units"})
    run_all()

    after = last_turn(thread)
    assert (after.profile_label, after.assistant_version) == (before.profile_label, before.assistant_version)
    assert Thread.objects.get(pk=thread.pk).assistant == ground.lead
    card = Page(signed_in(ground.alice), thread).at(f"c{call.pk.hex}")
    assert "Answered by alice" in card.text()


def test_report_q8_a_sub_chats_result_that_is_sent_up_does_not_answer_the_parents_question(ground):
    ground.assistant("stock", script=["Five.", "Six by now."])
    delegate = {"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}
    ground.script([delegate, ASK, "Units it is.", "Six, then."])
    thread = ground.open("How many?")
    run_all()
    child = Thread.objects.get(parent=thread)
    lifecycle.send_message(child, author=ground.alice, text="And now?")
    run_all()
    browser = signed_in(ground.alice)

    browser.post(f"/c/{child.chat_id}/send-back/", headers=HTMX)
    run_all()
    call = ToolCall.objects.get(name="ask_clarifying_question")
    assert call.answer is None and last_turn(thread).state == Turn.State.QUEUED
    browser.post(url("answer_question", call), {"option": "Units"})
    run_all()

    assert replies(thread)[-2:] == ["Units it is.", "Six, then."]
