"""The line on a sub-chat's card: what a person needs to read of it, or what they are asked in its place."""

import time

import pytest
from django.urls import reverse

from assistants.models import Thread, ToolCall, Turn
from assistants.turns import lifecycle, live
from subchats.below import look_below
from subchats.cards import first_sentence, last_line
from tests.kit.browsers import HTMX, signed_in
from tests.kit.meanwhile import run_and
from tests.kit.page import Page
from tests.kit.turns import last_turn, run_all
from tests.kit.words import cut_off_call

REPORT = "**Week 47**\n\nReturns rose from 31 to 118. Nothing else moved.\n\n— report.md, lines 7-9"
ASK = {
    "text": "I look at the shelves.",
    "calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which shelf?", "options": ["top", "low"]}}],
}


def hand_over(ground, *script, tools=()):
    """A conversation whose lead has handed a task to an assistant that takes these steps, run until it rests."""
    ground.assistant("stock", tools=list(tools), script=list(script))
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "stock", "task": "Count"}}]}, "Done."])
    thread = ground.open()
    run_all()
    return thread


def card(ground, thread):
    return Page(signed_in(ground.alice), thread).at(f"c{last_turn(thread).calls.get().pk.hex}")


def line(found):
    told = found.find(_class="last")
    return told.text() if told else ""


def test_a_report_shows_the_first_sentence_of_its_answer(ground):
    thread = hand_over(ground, REPORT)

    assert line(card(ground, thread)) == "Returns rose from 31 to 118."


def test_a_sub_chat_at_work_shows_how_far_it_is(ground):
    thread = hand_over(ground, REPORT)
    Turn.objects.filter(thread__parent=thread).update(state=Turn.State.THINKING)

    assert line(card(ground, thread)) == "— report.md, lines 7-9"


def test_a_hand_back_names_its_owner_as_everything_else_does(ground):
    ground.assistant("freight", name="Logistics")
    back = {"name": "hand_back", "arguments": {"whatIsNeeded": "Which carrier?", "owningAgent": "freight"}}

    shown = card(ground, hand_over(ground, {"calls": [back]}, tools=["hand_back"])).text()

    assert "Logistics" in shown and "freight" not in shown


def test_a_refused_delegation_names_whom_it_meant(ground):
    ground.assistant("freight", name="Logistics")
    ground.lead.delegates.set([ground.assistant("stock")])
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "freight", "task": "Count"}}]}, "No."])
    thread = ground.open()
    run_all()

    heading = card(ground, thread).find(_class="t")

    assert last_turn(thread).calls.get().outcome == "refused" and heading.text() == "Logistics"


def test_a_question_stands_alone_on_the_card(ground):
    thread = hand_over(ground, ASK, tools=["ask_clarifying_question"])

    asking = card(ground, thread)

    assert "Which shelf?" in asking.text() and line(asking) == ""


def test_f06_an_outcome_that_nobody_knows_is_asked_and_answered_on_the_card(ground):
    thread = hand_over(ground, REPORT)
    child = Thread.objects.get(parent=thread)
    call = cut_off_call(last_turn(child))

    asking = card(ground, thread)
    answer = signed_in(ground.alice, **HTMX).post(reverse("decide_call", args=[call.pk]), {"happened": "1"})

    assert asking.attributes["data-state"] == "waiting" and "Did this happen?" in asking.text() and line(asking) == ""
    assert answer.status_code < 300 and not ToolCall.objects.get(pk=call.pk).is_open


@pytest.mark.parametrize("text", ["[" * 200_000, "[](" * 70_000, "**" * 100_000, "! " * 100_000, "." * 200_000, "> " * 100_000])
def test_p13_a_hostile_report_costs_its_card_little(text):
    begun = time.monotonic()
    first_sentence(text)
    last_line(text)

    assert time.monotonic() - begun < 2


def test_a_card_of_a_stopped_sub_chat_shows_what_was_kept_and_not_what_its_model_still_sends(ground):
    ground.assistant("slow", script=[{"text": "word " * 60, "delta_chars": 5, "delay_ms": 5}])
    ground.script([{"calls": [{"name": "invoke_assistant", "arguments": {"assistant": "slow", "task": "Tell"}}]}, "Done."])
    root = ground.open("Go")

    def stop_and_send_more():
        child = root.children.get()
        reply = live.current(child.pk)
        lifecycle.stop_turn(last_turn(child).pk, by="Alice")
        reply.on_text("Said too late.")
        return look_below([child])[child.pk].text

    shown = run_and(stop_and_send_more, chars=20)

    assert shown.startswith("word") and "too late" not in shown
