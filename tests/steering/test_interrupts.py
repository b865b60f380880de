"""What an interrupt does to calls that wait for a person, to several sub-chats at once, and to a tool that runs on."""

import json
import threading

import pytest

from assistants.errors import CodedError
from assistants.models import ToolCall, Turn
from assistants.turns import executors, questions
from subchats.models import Delegation
from tests.kit.meanwhile import run_and
from tests.kit.sealed import allow, asked, call, give
from tests.kit.turns import last_turn, replies, run_all
from tests.subchats.fan_outs import fan_out, item, opened

SLOW = {"text": "word " * 60, "delta_chars": 5, "delay_ms": 5}


def interrupt(ground, thread, text="That is enough"):
    return questions.send_or_answer(thread, author=ground.alice, text=text, client_key=text, joins="interrupt")


def test_report_q13_an_interrupt_closes_an_approval_and_what_was_asked_never_runs(ground, catcher):
    give(ground.lead, "send")
    ground.script([{"calls": [call("send", to="anna", text="The price is 5.")]}, "Not sent."])
    thread = ground.open("Send it")
    run_all()
    waiting = asked()

    interrupt(ground, thread, "Do not send it")
    run_all()

    with pytest.raises(CodedError):
        allow(waiting, by=ground.alice)
    run_all()
    waiting.refresh_from_db()
    assert (waiting.outcome, waiting.code) == ("stopped", "INTERRUPTED") and catcher.caught == []
    assert replies(thread)[-1] == "Not sent." and last_turn(thread).state == Turn.State.DONE


def test_report_d14_an_interrupted_fan_out_gives_the_reports_of_all_its_sub_chats(ground):
    ground.assistant("quick", script=["Quick is done."])
    ground.assistant("slow", script=[SLOW])
    thread = opened(ground, fan_out(item("quick"), item("slow")))

    run_and(lambda: interrupt(ground, thread), chars=20)

    fanned = ToolCall.objects.get(name="spawn_agents")
    reports = json.dumps(json.loads(fanned.result), ensure_ascii=False)
    assert "Quick is done." in reports and "STOPPED" in reports and "word word" in reports
    assert not Delegation.objects.filter(returned_at=None).exists() and not Turn.objects.active().exists()
    assert replies(thread)[-1] == "Done." and thread.turns.count() == 1


def test_an_interrupted_turn_is_run_again_at_once_although_its_runner_still_hangs_in_a_tool(settings, monkeypatch):
    settings.TASKMONKEY = {**settings.TASKMONKEY, "EXECUTOR": "inprocess"}
    hangs, second, let_go = threading.Event(), threading.Event(), threading.Event()

    def runner(turn_id):
        if hangs.is_set():
            second.set()
            return
        hangs.set()
        let_go.wait(60)

    monkeypatch.setattr(executors, "_runner", runner)
    monkeypatch.setattr(executors, "let_go", lambda: None)
    try:
        executors.enqueue(-1)
        assert hangs.wait(60)
        executors.enqueue(-1)
        assert not second.wait(0.2)

        executors.abandon(-1)
        executors.enqueue(-1)

        assert second.wait(60)
    finally:
        let_go.set()
