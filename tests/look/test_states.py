"""A state has a word and a shape; numbers and times are short; what a tool was given is readable."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from django.utils import translation

from assistants.models import Tenant, ToolCall, Turn
from assistants.templatetags import look


def test_every_state_of_a_turn_has_a_word_and_a_shape():
    looks = {state: look.turn_look(Turn(state=state)) for state in Turn.State.values}

    assert [state for state, shown in looks.items() if not shown.word or not (shown.icon or shown.live)] == []


def test_every_state_of_a_call_has_a_word_and_a_shape():
    calls = [ToolCall(state="settled", outcome=outcome) for outcome in ToolCall.Outcome.values]
    calls += [ToolCall(), ToolCall(started=datetime.now(UTC)), ToolCall(needs_decision=True)]

    assert all(shown.word and (shown.icon or shown.live) for shown in map(look.call_look, calls))


def test_every_state_of_a_card_has_a_word_and_a_shape():
    states = ("queued", "running", "waiting", "paused", "reported", "handed_back", "refused", "failed", "stopped")

    assert all(look.subchat_look(state).word for state in states)


def test_a_turn_that_ended_with_a_question_waits_for_its_answer():
    assert look.turn_look(Turn(state="done", reason="question")).word == "your answer"


def test_an_icon_is_drawn_without_size_and_colour():
    drawn = look.icon("check")

    assert drawn.startswith('<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">')
    assert "style=" not in drawn and "\n" not in drawn


@pytest.mark.parametrize(("number", "shown"), [(0, "0"), (950, "950"), (4100, "4.1k"), (12_000, "12k"), (2_500_000, "2.5M")])
def test_a_number_of_tokens_is_short(number, shown):
    assert look.short(number) == shown


def test_german_writes_figures_with_a_comma():
    with translation.override("de"):
        assert [look.short(number) for number in (4600, 4000, 2_500_000)] == ["4,6k", "4k", "2,5M"]
        assert look.money(Decimal("0.06"), Tenant(currency="EUR")) == "€ 0,06"


def test_money_is_in_the_tenants_currency():
    assert [look.money(1.5, Tenant(currency=each)) for each in ("EUR", "USD", "CHF")] == ["€ 1.50", "$ 1.50", "CHF 1.50"]


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00"), (41, "0:41"), (725, "12:05"), (3700, "1:01:40")])
def test_a_time_span_reads_like_a_clock(seconds, shown):
    assert look.span(seconds) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(0, "under 1 s"), (0.4, "under 1 s"), (1, "0:01"), (41.9, "0:41")])
def test_what_took_less_than_a_second_does_not_read_as_nothing(seconds, shown):
    assert look.took(seconds) == shown


def test_a_moment_carries_its_time_for_the_readers_own_zone():
    at = datetime(2026, 11, 30, 9, 41, 5, tzinfo=timezone(timedelta(hours=1)))

    assert look.moment(at) == '<time datetime="2026-11-30T09:41:05+01:00" data-clock>08:41</time>'
    assert look.moment(at.isoformat()) == look.moment(at)
    assert look.moment(None) == ""


def test_what_a_tool_was_given_reads_as_names_and_texts():
    given = {"task": "Count\nthem", "options": ["a", "b"], "deep": {"x": 1}}

    shown = dict(look.readable(given))

    assert shown["task"] == "Count\nthem"
    assert shown["options"] == "a\nb"
    assert json.loads(shown["deep"]) == {"x": 1}
    assert look.readable(json.dumps(given)) == look.readable(given)
    assert look.readable("plain words") == [("", "plain words")]
    assert look.readable("") == []


def test_report_j8_a_huge_result_is_cut_on_the_page():
    (_, shown) = look.readable("x" * 400_000)[0]

    assert len(shown) <= look.SHOWN_CHARS + 2
