"""Tool calls that are wrong, endless or not allowed (F22 to F26, S25, report rows J)."""

import json

import pytest
from django.core import serializers

from assistants.llm import request
from assistants.models import AuditEntry, Turn
from assistants.models.definition import definition_of
from assistants.tools.invoke import shown_to_model
from assistants.turns.prompt import build_prompt
from assistants.turns.sweeper import sweep
from tests.kit.turns import last_turn, replies, run_all


def calling(name, arguments="", **more):
    return {"calls": [{"name": name, "arguments": arguments, **more}]}


def run(ground, *steps, tools=("current_time", "ask_clarifying_question")):
    ground.lead.tools = list(tools)
    ground.lead.save()
    ground.script(list(steps))
    thread = ground.open()
    run_all()
    return thread


BAD = ['{"zone":', "[]", "NaN", '{"zone":"UTC","zone":"UTC"}', "[" * 10_000, '{"zone": 7}', '{"zone":"UTC","zz":2}']


@pytest.mark.parametrize("arguments", BAD, ids=["cut", "list", "nan", "twice", "deep", "type", "extra"])
def test_f22_bad_arguments_are_not_run_and_the_turn_goes_on(ground, arguments):
    thread = run(ground, calling("current_time", arguments), "ok")

    call = last_turn(thread).calls.get()
    assert (call.outcome, call.code, call.attempts) == ("refused", "BAD_ARGUMENTS", 0)
    assert replies(thread)[-1] == "ok"


@pytest.mark.parametrize("arguments", ['"foo"', "3", "[1]", "null", '{"a":1'])
def test_report_j1_j2_arguments_that_are_no_object_fail_alone_with_a_readable_error(ground, arguments):
    thread = run(ground, calling("current_time", arguments), "ok")

    assert "JSON" in last_turn(thread).calls.get().result
    assert last_turn(thread).state == Turn.State.DONE


def test_f22_report_j2_empty_arguments_are_an_empty_object(ground):
    thread = run(ground, calling("current_time", ""), "ok")

    assert last_turn(thread).calls.get().outcome == "ok"


def test_f22_what_is_stored_and_sent_again_is_always_valid(ground):
    thread = run(ground, calling("current_time", '{"zone":'), "ok")
    turn = last_turn(thread)

    prompt = build_prompt(turn, thread, definition_of(thread))

    sent = [call for message in prompt.messages if isinstance(message, request.Answer) for call in message.calls]
    assert [json.loads(call.arguments) for call in sent] == [{}]


def test_f22_three_rounds_of_nothing_but_bad_calls_end_the_turn(ground):
    steps = [calling("current_time", f'{{"zone": {n}}}') for n in range(10)]

    thread = run(ground, *steps)

    turn = last_turn(thread)
    assert (turn.state, turn.reason, turn.model_calls) == (Turn.State.FAILED, "limit:bad_calls", 3)


NAMES = ["nope", "charge", "Current_Time", " current_time ", "сurrent_time", "current_time\u200b"]


@pytest.mark.parametrize("name", NAMES)
def test_f24_only_the_exact_name_of_an_allowed_tool_runs_and_the_good_call_beside_it_does(ground, name):
    both = {"calls": [{"name": name}, {"name": "current_time"}]}

    thread = run(ground, both, "ok")

    bad, good = last_turn(thread).calls.order_by("index")
    assert bad.outcome == "refused" and "current_time" in bad.result
    assert good.outcome == "ok" and replies(thread)[-1] == "ok"


def test_s25_a_tool_that_was_taken_away_in_mid_turn_is_refused(ground):
    thread = run(ground, calling("current_time"), calling("current_time", '{"zone":"UTC"}'), "ok", tools=["current_time"])
    assert [call.outcome for call in last_turn(thread).calls.all()] == ["ok", "ok"]
    ground.script([calling("current_time"), "ok"])
    second = ground.open("again")
    ground.lead.tools = []
    ground.lead.save()

    run_all()

    call = last_turn(second).calls.get()
    assert (call.code, call.attempts) == ("TOOL_NOT_ALLOWED", 0)
    assert AuditEntry.objects.filter(action="tool_refused", target="current_time", tenant=ground.apes).exists()


@pytest.mark.parametrize("ids", [["c1", "c1"], ["", ""], ["x" * 10_000, "y"]], ids=["same", "none", "long"])
def test_f25_every_call_has_one_result_whatever_the_providers_ids_are(ground, ids):
    calls = [
        {"name": "current_time", "arguments": {"zone": zone}, "id": each}
        for zone, each in zip(["UTC", "Europe/Berlin"], ids, strict=True)
    ]

    thread = run(ground, {"calls": calls}, "ok")

    assert [call.outcome for call in last_turn(thread).calls.all()] == ["ok", "ok"]
    assert thread.messages.filter(role="tool").count() == 2


def test_f23_report_r_no_more_calls_than_the_limit_are_taken_from_one_answer(ground):
    many = {"calls": [{"name": "current_time", "arguments": {"zone": "UTC"}} for _ in range(500)]}

    thread = run(ground, many, "ok")

    assert last_turn(thread).calls.count() <= 32


def test_f26_the_same_call_for_ever_is_stopped(ground):
    thread = run(ground, *[calling("current_time", '{"zone":"UTC"}')] * 60)

    turn = last_turn(thread)
    assert turn.reason == "limit:repeat" and turn.model_calls <= 5


def test_f26_two_calls_in_turn_for_ever_are_stopped(ground):
    pair = [calling("current_time", '{"zone":"UTC"}'), calling("current_time", '{"zone":"Europe/Berlin"}')]

    thread = run(ground, *pair * 30)

    assert last_turn(thread).reason == "limit:repeat"


def test_f26_steps_are_bounded_and_the_last_word_says_so(ground):
    zones = ["Africa/Cairo", "Asia/Tokyo", "Europe/Rome", "America/Lima", "Asia/Dubai", "Africa/Lagos"]
    ground.lead.max_steps = 5
    thread = run(ground, *[calling("current_time", json.dumps({"zone": zone})) for zone in zones], "never")

    turn = last_turn(thread)
    assert turn.reason == "limit:steps" and "5 steps" in turn.note
    assert turn.calls.filter(outcome="ok").count() == 5


def test_f26_empty_answers_for_ever_are_stopped(ground):
    thread = run(ground, *[{"text": ""}] * 10)

    for _ in range(4):
        sweep()
        run_all()
    turn = last_turn(thread)
    assert turn.reason == "limit:empty" and turn.model_calls <= 3


def test_report_j8_a_huge_result_is_trimmed_for_the_model_and_says_so():
    shown = shown_to_model("x" * 400_000)

    assert len(shown) < 70_000 and "of 400000 characters shown" in shown


def test_report_j9_no_secret_is_kept_in_the_record_of_a_turn(ground):
    profile = ground.lead.profile
    profile.set_key("sk-CANARY-42")
    profile.save()
    thread = run(ground, calling("ask_clarifying_question", {"question": "Which?", "options": ["a", "b"]}))

    rows = [*thread.turns.all(), *thread.messages.all(), *last_turn(thread).calls.all(), *thread.events.all(), profile]
    assert "CANARY" not in serializers.serialize("json", rows)
