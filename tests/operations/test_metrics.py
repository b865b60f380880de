"""Figures for Prometheus: who may read them, what is counted, and that no label holds what anybody said or is called."""

import os
import re
import subprocess
import sys
from datetime import timedelta

import pytest
from django.test import Client

from assistants import clock, metrics, telemetry
from assistants.models import Turn
from assistants.turns.claims import claim_turn
from tests.kit.sealed import call, give
from tests.kit.turns import commit_hooks, run_all
from tests.serve.conftest import ROOT

TOKEN = "a-token-to-read-with"
CANARY = "canary5521"


@pytest.fixture
def counting(settings, monkeypatch):
    """This process counts afresh."""
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setattr(metrics, "_meters", None)
    metrics.start()
    yield metrics._meters
    metrics._meters.close()


def read(**headers: str) -> str:
    answer = Client(headers={"Authorization": f"Bearer {TOKEN}", **headers}).get("/metrics")
    assert answer.status_code == 200
    return answer.content.decode()


def figure(name: str, /, **labels: str) -> float:
    inside = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    line = f"taskmonkey_{name}{{{inside}}}" if labels else f"taskmonkey_{name}"
    found = re.search(rf"^{re.escape(line)} (\S+)$", read(), re.M)
    return float(found[1]) if found else 0.0


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer ä"])
def test_whoever_lacks_the_token_finds_nothing(db, counting, header):
    answer = Client(headers={"Authorization": header}).get("/metrics")

    assert (answer.status_code, answer.content) == (404, b"")


def test_there_is_nothing_to_read_unless_a_token_is_set(db, settings):
    settings.METRICS_TOKEN = ""

    answers = {Client(headers={"Authorization": header}).get("/metrics").status_code for header in ("Bearer", "Bearer ")}

    assert answers == {404}


def test_turns_model_calls_tokens_and_tools_are_counted(ground, counting):
    give(ground.lead, "calculate")
    steps = [
        {"calls": [call("calculate", expression="1 + 1")]},
        {"calls": [call("calculate", expression="1 +"), call(f"made_up_{CANARY}")]},
        f"It is two, {CANARY}.",
    ]
    ground.script(steps)

    ground.open(f"What is one and one, {CANARY}?")
    run_all()

    assert figure("turns_ended_total", state="done", reason="") == 1
    assert figure("turn_seconds_count", state="done") == 1
    assert figure("model_calls_total", provider="scripted", outcome="ok") == 3
    assert figure("first_token_seconds_count") == 1
    assert figure("tokens_total", direction="input") > 0
    assert figure("tool_calls_total", tool="calculate", outcome="done") == 1
    assert figure("tool_calls_total", tool="calculate", outcome="BAD_ARGUMENTS") == 1
    assert figure("tool_calls_total", tool="unknown", outcome="TOOL_UNKNOWN") == 1


def test_the_queue_and_what_stands_still_are_read_from_the_record(ground, counting):
    ground.open("One")
    ground.open("Two")

    assert figure("turns", state="thinking") == 2
    assert figure("queue_length") == 2

    run_all()

    assert figure("turns", state="thinking") == 0
    assert figure("queue_length") == 0


def test_a_turn_taken_over_from_a_dead_process_is_counted(ground, counting):
    thread = ground.open("Hello")
    commit_hooks()
    claim_turn(thread.turns.get().pk, holder="dead:1")
    Turn.objects.update(lease_until=clock.now() - timedelta(seconds=1))

    run_all()

    assert figure("takeovers_total") == 1


def test_sockets_rounds_and_errors_are_counted(db, counting):
    telemetry.tell("sockets", open=3)
    with telemetry.timed("round", name="sweeper") as told:
        told["count"] = 4
    metrics.log.error("%s", CANARY)

    assert figure("sockets") == 3
    assert figure("engine_round_seconds_count", name="sweeper") == 1
    assert figure("sweeper_found_total") == 4
    assert figure("errors_total", logger="assistants.metrics") == 1


def test_no_figure_names_anybody_or_holds_what_was_said(ground, counting):
    ground.script([{"calls": [call(f"tool_{CANARY}", text=CANARY)]}, f"{CANARY} it is."])

    ground.open(f"About {CANARY}")
    run_all()

    text = read()
    names = (CANARY, "alice", "apes", "Lead", ground.lead.profile.model)
    assert [name for name in names if name in text] == []


def test_what_breaks_while_it_is_measured_breaks_no_turn(ground, counting, monkeypatch, caplog):
    monkeypatch.setattr(counting, "_chat", lambda *_: 1 / 0)

    thread = ground.open("Hello")
    run_all()

    assert thread.turns.get().state == "done"
    assert "chat was not measured" in caplog.text


def test_nothing_is_measured_while_nobody_listens(ground):
    assert telemetry._listeners == ()

    with telemetry.timed("chat", turn=1) as told:
        told["anything"] = 1

    assert told["anything"] == 1


COUNT = """
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
django.setup()
from assistants import metrics, telemetry
telemetry.tell("claimed", turn=1, taken_over=True)
telemetry.tell("sockets", open=2)
if {last}:
    from django.db import connection
    from django.core.management import call_command
    call_command("migrate", verbosity=0)
    print(metrics.read().decode())
"""


def test_processes_that_share_a_folder_are_counted_together(tmp_path):
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "TASKMONKEY_METRICS_TOKEN": TOKEN}
    environment["TASKMONKEY_HOME"] = str(tmp_path / "home")

    outputs = [
        subprocess.run(
            [sys.executable, "-c", COUNT.format(last=last)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for last in (False, True)
    ]

    assert "taskmonkey_takeovers_total 2.0" in outputs[1]
    # The first process is gone, and its sockets with it.
    assert "taskmonkey_sockets 2.0" in outputs[1]
    assert "taskmonkey_queue_length 0.0" in outputs[1]
