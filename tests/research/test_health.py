"""The health check of a research: its categories in their order, its exit codes, and what it never tells (A-41)."""

import json
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from assistants.models import Assistant, LLMProfile
from subchats.models import ManagedExplorer
from subchats.research.explorers import get_explorer
from subchats.research.health import CATEGORIES, Health, Probe, category_of, sanitized
from tests.kit.stub_llm import KEY, StubLLM, finish, rst, say, sleep, status
from tests.kit.world import World

OTHER_KEY = "sk-OTHER-9876543210"


@pytest.fixture
def stub() -> Iterator[StubLLM]:
    with StubLLM() as server:
        yield server


@pytest.fixture
def scout(ground: World, settings: Any, tmp_path: Path, monkeypatch: Any) -> Assistant:
    """The apes' research assistant, with the settings that name it."""
    settings.HOME = tmp_path / "home"
    settings.HOME.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TASKMONKEY_CONFIG", raising=False)
    (settings.HOME / "config.json").write_text('{"tenant": "apes", "timeoutMs": 2000}')
    return ground.assistant("scout", tools=["subagent", "emit_autorag_results"], research=True)


def connect(assistant: Assistant, address: str, *, key: str = KEY, **fields: Any) -> LLMProfile:
    profile = LLMProfile(tenant=assistant.tenant, name=f"of {assistant.slug}", provider="openai", model="stub", **fields)
    profile.base_url = address
    profile.set_key(key)
    profile.save()
    assistant.profile = profile
    assistant.save()
    return profile


def check(*flags: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the report."""
    out, code = StringIO(), 0
    try:
        call_command("health", "--json", *flags, stdout=out)
    except SystemExit as exit_:
        code = int(str(exit_.code))
    return code, json.loads(out.getvalue())


def test_a41_the_built_in_engine_is_healthy_and_the_report_has_its_shape(scout: Assistant) -> None:
    code, report = check()

    assert code == 0
    assert report["healthSchemaVersion"] == 1 and report["command"] == "health"
    assert (report["ok"], report["category"], report["probesSkipped"]) == (True, "ok", False)
    assert report["config"] == {"ok": True, "source": "home"}
    assert report["coverage"] == {
        "modelProvider": True,
        "subagentDispatch": True,
        "retrievalTools": False,
        "searchCuration": False,
        "indexHealth": False,
    }
    assert report["models"]["explorer"] == {"provider": "builtin", "id": "builtin", "auth": "local_runtime"}
    assert [each["role"] for each in report["probes"]] == ["orchestrator", "explorer"]
    assert all(each["ok"] and not each["skipped"] and each["durationMs"] >= 0 for each in report["probes"])
    assert report["indexHealth"] == {"separate": True, "command": "manage.py status", "included": False}


def test_a41_a_check_makes_no_explorer_and_copies_no_settings(scout: Assistant, settings: Any) -> None:
    (settings.HOME / "config.json").rename("taskmonkey.config.json")

    code, report = check()

    assert (code, report["config"]["source"]) == (0, "legacy")
    assert not (settings.HOME / "config.json").exists()
    assert not ManagedExplorer.objects.exists()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--timeout-ms", "0"), "--timeout-ms"),
        (("--timeout-ms", "-5"), "--timeout-ms"),
        (("--timeout-ms", "soon"), "--timeout-ms"),
        (("--config", "nowhere.json"), "The file that --config names is not there"),
    ],
)
def test_a41_bad_flags_and_settings_are_category_config_with_exit_2(scout: Assistant, flags: Any, told: str) -> None:
    code, report = check(*flags)

    assert (code, report["category"], report["models"], report["probes"]) == (2, "config", {}, [])
    assert told in report["config"]["message"]


def test_a41_settings_that_name_nobody_are_category_config(scout: Assistant, settings: Any) -> None:
    for values in ({"tenant": "owls"}, {"tenant": "apes", "assistant": "lead"}, {"tenant": "bears"}, {}):
        (settings.HOME / "config.json").write_text(json.dumps(values))

        code, report = check()

        assert (code, report["category"]) == (2, "config"), values


def break_nothing(stub: StubLLM, scout: Assistant) -> None:
    stub.script_forever([say("OK"), finish("stop")])


def break_model(stub: StubLLM, scout: Assistant) -> None:
    LLMProfile.objects.update(model="")


def break_provider(stub: StubLLM, scout: Assistant) -> None:
    LLMProfile.objects.update(provider="local", base_url="")


def break_key(stub: StubLLM, scout: Assistant) -> None:
    LLMProfile.objects.update(encrypted_key="", base_url="")


def break_rights(stub: StubLLM, scout: Assistant) -> None:
    stub.script_forever([status(401, body={"error": {"message": f"bad key {KEY}"}})])


def break_time(stub: StubLLM, scout: Assistant) -> None:
    stub.script_forever([sleep(5)])


def break_line(stub: StubLLM, scout: Assistant) -> None:
    LLMProfile.objects.update(base_url="http://127.0.0.1:9/v1")


def break_completion(stub: StubLLM, scout: Assistant) -> None:
    stub.script_forever([status(500, body={"error": {"message": "/srv/llm/worker.py died"}})])


def break_stream(stub: StubLLM, scout: Assistant) -> None:
    stub.script_forever([rst()])


def break_explorer(stub: StubLLM, scout: Assistant) -> None:
    stub.script_forever([say("OK"), finish("stop")])
    Assistant.objects.filter(slug="autorag-explorer").update(instructions="Do as you like.")


def break_tools(stub: StubLLM, scout: Assistant) -> None:
    stub.script_forever([say("OK"), finish("stop")])
    Assistant.objects.filter(pk=scout.pk).update(tools=["emit_autorag_results"])


@pytest.mark.parametrize(
    ("breaks", "category", "code"),
    [
        (break_nothing, "ok", 0),
        (break_model, "model_resolution", 2),
        (break_provider, "model_resolution", 2),
        (break_key, "auth_missing", 1),
        (break_rights, "auth_missing", 1),
        (break_time, "timeout", 1),
        (break_line, "provider_unreachable", 1),
        (break_completion, "completion_failed", 1),
        (break_stream, "completion_failed", 1),
        (break_explorer, "subagent_failed", 1),
        (break_tools, "subagent_failed", 1),
    ],
)
def test_a41_each_fault_has_its_category_and_its_exit_code(
    stub: StubLLM, scout: Assistant, breaks: Callable[..., None], category: str, code: int
) -> None:
    connect(scout, stub.url)
    connect(get_explorer(scout.tenant), stub.url)
    breaks(stub, scout)

    given, report = check("--timeout-ms", "400")

    assert (given, report["category"], report["ok"]) == (code, category, category == "ok")
    assert KEY not in json.dumps(report) and "/srv/" not in json.dumps(report)


def test_a41_an_explorer_whose_model_fails_is_a_failure_of_the_explorers(stub: StubLLM, scout: Assistant) -> None:
    connect(get_explorer(scout.tenant), stub.url)
    stub.script_forever([status(500, body={})])

    code, report = check()

    assert (code, report["category"]) == (1, "subagent_failed")
    assert (report["coverage"]["modelProvider"], report["coverage"]["subagentDispatch"]) == (True, False)


def test_a41_without_probes_no_model_is_asked_but_keys_are_still_missed(stub: StubLLM, scout: Assistant) -> None:
    connect(scout, stub.url)
    connect(get_explorer(scout.tenant), stub.url)

    code, report = check("--skip-probes")
    LLMProfile.objects.filter(name="of autorag-explorer").update(encrypted_key="", base_url="")
    later, worse = check("--skip-probes")

    assert (code, report["category"], report["probesSkipped"]) == (0, "ok", True)
    assert report["coverage"]["subagentDispatch"] is False
    assert [each["skipped"] for each in report["probes"]] == [True, True]
    assert (later, worse["category"]) == (1, "auth_missing")
    assert stub.requests == []


def test_a33_each_role_uses_its_own_key_and_no_other(stub: StubLLM, scout: Assistant) -> None:
    with StubLLM() as second:
        connect(scout, stub.url)
        connect(get_explorer(scout.tenant), second.url, key=OTHER_KEY)
        stub.script_forever([say("OK"), finish("stop")])
        second.script_forever([say("OK"), finish("stop")])

        code, report = check()

        assert code == 0
        assert [each.headers["authorization"] for each in stub.requests] == [f"Bearer {KEY}"]
        assert [each.headers["authorization"] for each in second.requests] == [f"Bearer {OTHER_KEY}"]
        assert stub.requests[0].at < second.requests[0].at
        assert KEY not in json.dumps(report) and OTHER_KEY not in json.dumps(report)


@pytest.mark.parametrize(("first", "second"), list(combinations(CATEGORIES, 2)))
def test_a41_of_two_faults_the_one_that_stands_first_is_reported(first: str, second: str) -> None:
    for order in ((first, second), (second, first)):
        probes = tuple(Probe(role, skipped=False, category=each) for role, each in zip("ab", order, strict=True))

        health = Health("home", probes=probes)

        assert health.category == first
        assert health.exit_code == (2 if first in ("config", "model_resolution") else 1)


@pytest.mark.parametrize(
    ("code", "orchestrator", "explorer"),
    [
        ("MODEL_TIMEOUT_IDLE", "timeout", "timeout"),
        ("MODEL_UNREACHABLE", "provider_unreachable", "provider_unreachable"),
        ("MODEL_AUTH", "auth_missing", "auth_missing"),
        ("MODEL_NOT_FOUND", "model_resolution", "model_resolution"),
        ("MODEL_QUOTA", "completion_failed", "subagent_failed"),
        ("MODEL_INTERRUPTED", "completion_failed", "subagent_failed"),
    ],
)
def test_a41_failed_calls_have_their_category(code: str, orchestrator: str, explorer: str) -> None:
    assert (category_of(code), category_of(code, "explorer")) == (orchestrator, explorer)


def test_a41_messages_hold_no_secret_no_path_and_no_stack() -> None:
    text = "It broke in /srv/app/run.py and C:\\keys\\a.pem with sk-abc123DEF and s3cret\nTraceback (most recent"

    told = sanitized(text, ["s3cret"])

    assert not any(each in told for each in ("/srv", "keys", "sk-abc", "s3cret", "Traceback"))
    assert told.startswith("It broke in")


def test_a41_a_team_may_be_named_where_there_are_several(scout: Assistant) -> None:
    assert check("--skip-probes", "--tenant", "apes")[0] == 0
    assert check("--skip-probes", "--tenant", "nobody")[0] == 2
