"""The timeline: who did what when in a turn's tree, for how long, how many tokens and how much money."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assistants.conversations.present import present_of
from assistants.conversations.timeline import KINDS, timeline_of
from assistants.models import LLMProfile, Tenant, Thread, ToolCall, Turn, TurnEvent
from assistants.templatetags import look, tree
from assistants.turns import events, questions
from assistants.turns.loop import run_turn
from tests.kit.browsers import signed_in
from tests.kit.page import Page
from tests.kit.turns import last_turn, run_all
from tests.kit.words import cut_off_call

ASK = {"calls": [{"name": "ask_clarifying_question", "arguments": {"question": "Which?", "options": ["a", "b"]}}]}


def hand_to(*names, **more):
    calls = [{"name": "invoke_assistant", "arguments": {"assistant": name, "task": f"Ask {name}"}} for name in names]
    return {"calls": calls, **more}


def spread(*turns):
    """Lets a second pass between the states of these turns, in the order in which they were recorded; gives the first."""
    told = TurnEvent.objects.filter(kind="turn", payload__turn__in=[turn.pk for turn in turns]).order_by("pk")
    start = timezone.now() - timedelta(minutes=5)
    for number, event in enumerate(told):
        TurnEvent.objects.filter(pk=event.pk).update(created=start + timedelta(seconds=number))
    for turn in turns:
        at = list(TurnEvent.objects.filter(kind="turn", payload__turn=turn.pk).order_by("pk").values_list("created", flat=True))
        Turn.objects.filter(pk=turn.pk).update(created=at[0], started=at[0])
        if turn.is_final:
            Turn.objects.filter(pk=turn.pk).update(finished=at[-1])
    return start


def kinds(row):
    return [part.kind for part in row.segments]


def test_every_stretch_stands_in_its_place_on_one_axis(ground):
    ground.assistant("stock", tools=["current_time"], script=[{"calls": [{"name": "current_time"}]}, "Forty-two."])
    ground.script([hand_to("stock"), "All told."])
    thread = ground.open("How many?")
    run_all()
    spread(*Turn.objects.order_by("pk"))

    shown = timeline_of(present_of(thread))

    lead, stock = shown.rows
    assert (lead.name, lead.depth, stock.name, stock.depth) == ("Lead", 0, "Stock", 1)
    assert kinds(lead) == ["thinking", "tools", "others", "thinking"] and kinds(stock) == ["thinking", "tools", "thinking"]
    for row in shown.rows:
        ends = [part.start + part.length for part in row.segments]
        assert [part.start for part in row.segments[1:]] == pytest.approx(ends[:-1], abs=0.1)
    assert lead.segments[0].start == 0 and lead.segments[-1].start + lead.segments[-1].length == pytest.approx(100, abs=0.1)
    assert stock.segments[0].start > 0 and dict(stock.spent).keys() == {"thinking", "tools"}
    assert shown.kinds == ("thinking", "tools", "others")


def test_report_d22_the_sums_are_those_of_the_whole_tree(ground):
    ground.assistant("stock", script=[{"text": "Forty-two.", "usage": [100, 10]}])
    ground.script([hand_to("stock", usage=[50, 5]), {"text": "Counted.", "usage": [60, 6]}])
    thread = ground.open("How many?")
    run_all()

    shown = timeline_of(present_of(thread))

    assert shown.tokens == sum(row.tokens for row in shown.rows) == 231 and shown.since == ""


def test_what_it_cost_is_told_in_the_tenants_currency_everywhere(ground):
    stock = ground.assistant("stock", script=[{"text": "Forty-two.", "usage": [100, 10]}])
    LLMProfile.objects.filter(pk__in=[stock.profile_id, ground.lead.profile_id]).update(input_price=10_000)
    Tenant.objects.filter(pk=ground.apes.pk).update(currency="USD")
    ground.script([hand_to("stock", usage=[50, 5]), {"text": "Counted.", "usage": [60, 6]}])
    thread = ground.open("How many?")
    run_all()

    page = Page(signed_in(ground.alice), thread)

    for place in ("panel-timeline", "panel-budget", "log"):
        assert "$ " in page.at(place).text() and "€" not in page.at(place).text()


def test_a_sub_chat_shows_itself_and_what_is_below_it(ground):
    ground.assistant("stock", script=["Forty-two."])
    ground.script([hand_to("stock"), "All told."])
    thread = ground.open("How many?")
    run_all()
    child = Thread.objects.get(parent=thread)

    assert [row.name for row in timeline_of(present_of(child)).rows] == ["Stock"] and tree.ancestors(child) == [thread]


def test_the_time_until_a_person_answered_is_told_as_such(ground):
    ground.assistant("stock", tools=["ask_clarifying_question"], script=[ASK, "Nine."])
    ground.script([hand_to("stock"), "All told."])
    thread = ground.open("How many?")
    run_all()

    waiting = timeline_of(present_of(thread))
    assert kinds(waiting.rows[1])[-1] == "person" and [row.state for row in waiting.rows] == ["held", "asking"]

    call = ToolCall.objects.get(name="ask_clarifying_question")
    asked = call.turn
    Turn.objects.filter(pk=asked.pk).update(finished=asked.finished - timedelta(seconds=2))
    questions.answer(call, by=ground.alice, chosen=["a"], text="")
    run_all()

    answered = timeline_of(present_of(thread))
    assert len(answered.rows) == 2 and "person" in kinds(answered.rows[1])[1:-1]
    assert [row.state for row in answered.rows] == ["done", "done"]


def test_a_call_that_a_person_has_to_decide_is_a_wait_for_a_person(ground):
    thread = ground.open("Go")
    turn = last_turn(thread)
    cut_off_call(turn)
    events.record(thread.pk, "turn", turn=turn.pk)

    row = timeline_of(present_of(thread)).rows[0]

    assert kinds(row)[-1] == "person" and row.state == "held"


def test_a_pause_after_a_failed_call_is_told_apart(ground):
    ground.script([{"error": "MODEL_RATE_LIMITED"}])
    thread = ground.open("Go")
    run_all()
    turn = last_turn(thread)
    assert turn.state == "paused"
    assert kinds(timeline_of(present_of(thread)).rows[0])[-1] == "pause"

    ground.script(["Back."])
    Turn.objects.filter(pk=turn.pk).update(wake_at="2000-01-01T00:00:00Z")
    run_turn(turn.pk)
    spread(last_turn(thread))

    assert kinds(timeline_of(present_of(thread)).rows[0]) == ["thinking", "pause", "thinking"]


def test_a_tree_of_many_agents_takes_as_many_queries_as_a_small_one(ground):
    for number in range(7):
        ground.assistant(f"worker{number}", script=["Done."])
    ground.script([hand_to(*(f"worker{number}" for number in range(7))), "All told."])
    large = ground.open("All of you")
    run_all()
    ground.script([hand_to("worker0"), "All told."])
    small = ground.open("One of you")
    run_all()

    counts = []
    for thread in (small, large):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            rows = timeline_of(present_of(thread)).rows
        counts.append((len(rows), len(queries)))

    assert counts == [(2, 3), (8, 3)]


def test_the_panel_tells_by_word_and_by_shape_what_the_bars_show(ground):
    ground.assistant("stock", script=["Forty-two."])
    ground.script([hand_to("stock"), "All told."])
    thread = ground.open("How many?")
    run_all()

    panel = Page(signed_in(ground.alice), thread).at("panel")

    assert "Timeline" in panel.text() and "waiting for others" in panel.find(_class="legend").text()
    said = [each.text() for each in panel.find(_class="workers").elements()]
    assert all("thinking" in words and "tokens" in words for words in said)
    assert {look.kind_word(kind) for kind in KINDS} == {"thinking", "tools", "waiting for others", "waiting for you", "pause"}


def test_the_parts_of_a_time_are_never_longer_than_the_whole(ground):
    ground.script([{"calls": [{"name": "current_time"}]}, "Noon."])
    thread = ground.open("What time is it?")
    run_all()
    turn = last_turn(thread)
    start = timezone.now() - timedelta(minutes=5)
    told = TurnEvent.objects.filter(kind="turn", payload__turn=turn.pk).order_by("pk")
    for event, at in zip(told, (0, 0.7, 1.3, 2.9), strict=True):
        TurnEvent.objects.filter(pk=event.pk).update(created=start + timedelta(seconds=at))
    Turn.objects.filter(pk=turn.pk).update(created=start, started=start, finished=start + timedelta(seconds=2.9))

    shown = timeline_of(present_of(thread))
    panel = Page(signed_in(ground.alice), thread).at("panel-timeline").text()

    assert shown.seconds == shown.rows[0].seconds == 2
    assert dict(shown.rows[0].spent) == {"thinking": 2, "tools": 0}
    assert "thinking 0:02, tools under 1 s" in " ".join(panel.split()) and "0:00" not in panel


def test_an_empty_conversation_and_an_old_record_still_have_a_panel(ground):
    thread = ground.open("Hello")
    run_all()
    for event in TurnEvent.objects.filter(kind="turn"):
        TurnEvent.objects.filter(pk=event.pk).update(payload={"turn": event.payload["turn"]})

    assert kinds(timeline_of(present_of(thread)).rows[0]) == ["thinking"]
    Turn.objects.all().delete()
    assert timeline_of(present_of(thread)) is None and "Nobody yet." in Page(signed_in(ground.alice), thread).at("panel").text()
