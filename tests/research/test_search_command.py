"""A research from the shell: its answer, its exit codes, when it hints at the health check, and its feedback (A-42, A-39)."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from assistants.errors import CodedError
from assistants.models import LLMProfile, Thread, Turn
from subchats.models import CuratedResult, ResearchRun, ResearchSignal
from subchats.research import asking
from subchats.research.asking import SearchFailed, ask
from tests.kit import turns
from tests.research.house import QUERY, House, build, candidate, emits, handoff, profile, sends

HINT = "manage.py health"


@pytest.fixture
def house(ground: Any, tmp_path: Path, settings: Any, monkeypatch: Any) -> House:
    """The research of the apes, and a shell in which time passes by running turns."""
    settings.HOME = tmp_path / "home"
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TASKMONKEY_CONFIG", raising=False)
    monkeypatch.setattr(asking, "rest", lambda seconds: turns.run_all())
    return build(ground, tmp_path / "docs")


def script(house: House, orchestrator: list[Any], explorer: list[Any]) -> None:
    for assistant, name, steps in ((house.scout, "scout", orchestrator), (house.explorer, "explorer", explorer)):
        assistant.profile = profile(house.ground, name, steps)
        assistant.save()


def search(*arguments: str) -> str:
    out = StringIO()
    call_command("search", "--tenant", "apes", *arguments, stdout=out)
    return out.getvalue()


def failure(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        search(*arguments)
    return caught.value


def log_of(settings: Any) -> list[dict[str, Any]]:
    path = settings.HOME / "logs/runs.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a15_a_search_whose_budget_is_used_up_says_so_instead_of_waiting(house: House, monkeypatch: Any) -> None:
    monkeypatch.setattr(asking, "REST_SECONDS", 0.0)
    script(house, [sends(), emits()], [handoff()])
    house.scout.turn_tokens = 1
    house.scout.save()

    with pytest.raises(SearchFailed) as caught:
        ask(QUERY, assistant=house.scout, asker=house.ground.alice, seconds=5)

    assert (caught.value.code, caught.value.category) == ("SEARCH_WAITS", "")
    assert "budget of this turn" in caught.value.message
    assert not Turn.objects.active().exists()


def test_a42_a_search_prints_the_answer_with_numbered_evidence_and_its_places(house: House) -> None:
    script(house, [sends(), emits()], [handoff()])

    told = search(QUERY)

    assert told.splitlines()[:3] == ["A refund takes five working days at most [1].", "", "[1] Refund times (sure to 90%)"]
    assert "handbook/returns/refunds.md, line 3 (strong, date unknown)" in told
    assert "│ Refunds are paid within five working days." in told
    assert Thread.objects.roots().get(title=QUERY).owner == house.ground.alice


def test_a42_programs_get_the_whole_response(house: House) -> None:
    script(house, [sends(), emits()], [handoff()])

    told = json.loads(search(f"  {QUERY}\n", "--json"))

    assert set(told) == {"sessionId", "query", "results", "answer", "searched", "warnings", "diagnostics"}
    assert (told["query"], told["searched"]) == (QUERY, 1)
    (result,) = told["results"]
    assert result["feedbackId"] == f"{told['sessionId']}:1"
    assert result["evidence"][0]["source"] == "handbook/returns/refunds.md"


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_a05_a_blank_query_runs_nothing_and_logs_nothing(house: House, settings: Any, blank: str) -> None:
    told = json.loads(search(blank, "--json"))

    assert told["warnings"] == ["empty-query"]
    assert told["results"] == told["diagnostics"] == []
    assert not Thread.objects.exists() and log_of(settings) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Say what to look for"),
        ((QUERY, "--assistant", "lead"), "no research assistant “lead”"),
        ((QUERY, "--user", "rita"), "“rita” may not use “scout”"),
        ((QUERY, "--user", "charlie"), "“charlie” may not use “scout”"),
        ((QUERY, "--config", "nowhere.json"), "The file that --config names is not there"),
    ],
)
def test_a42_a_wrong_call_ends_with_2_and_without_a_hint(house: House, arguments: Any, told: str) -> None:
    error = failure(*arguments)

    assert error.returncode == 2 and told in str(error) and HINT not in str(error)
    assert not Thread.objects.exists()


@pytest.mark.parametrize("seconds", ["-1", "0", "nan", "inf", "soon"])
def test_a42_no_conversation_is_opened_for_a_time_that_is_none(house: House, seconds: str) -> None:
    with pytest.raises(CommandError, match="no time to wait"):
        call_command("search", QUERY, f"--timeout={seconds}")

    assert not Thread.objects.exists()


def test_a42_a_search_that_finds_nothing_ends_with_1_and_without_a_hint(house: House) -> None:
    script(house, [sends(), "Nothing.", "Nothing.", "Nothing."], [handoff(candidate(evidence="Not there."))])

    error = failure(QUERY)

    assert error.returncode == 1 and HINT not in str(error)


def test_a42_a_changed_explorer_ends_with_1_and_a_hint(house: House) -> None:
    script(house, [sends(), "I can't.", "I can't.", "I can't."], [handoff()])
    house.explorer.instructions = "Do as you like."
    house.explorer.save()

    error = failure(QUERY)

    assert error.returncode == 1 and HINT in str(error)


def test_a42_a_missing_tool_or_key_ends_with_1_and_a_hint(house: House) -> None:
    script(house, [sends(), emits()], [handoff()])
    house.scout.tools = ["emit_autorag_results"]
    house.scout.save()
    assert HINT in str(failure(QUERY))

    house.scout.profile = LLMProfile.objects.create(tenant=house.ground.apes, name="keyless", provider="openai", model="m")
    house.scout.tools = ["subagent", "emit_autorag_results"]
    house.scout.save()
    error = failure(QUERY)
    assert error.returncode == 1 and HINT in str(error)


@pytest.mark.parametrize(
    ("reason", "category", "hint"),
    [
        ("MODEL_AUTH", "auth_missing", True),
        ("MODEL_NOT_FOUND", "model_resolution", True),
        ("MODEL_UNREACHABLE", "provider_unreachable", True),
        ("MODEL_TIMEOUT_TOTAL", "timeout", True),
        ("research:tools", "subagent_failed", True),
        ("MODEL_QUOTA", "completion_failed", False),
        ("research:incomplete", "", False),
        ("limit:steps", "", False),
    ],
)
def test_a42_exactly_five_categories_hint_at_the_health_check(ground: Any, reason: str, category: str, hint: bool) -> None:
    turn = ground.open().turns.get()
    turn.state, turn.reason = Turn.State.FAILED, reason

    error = asking._failure(turn, None)

    assert (error.category, error.hint) == (category, hint)


def test_a42_a_search_without_end_is_stopped_and_hints_at_the_health_check(house: House, monkeypatch: Any) -> None:
    script(house, [sends(), emits()], [handoff()])

    error = failure(QUERY, "--timeout", "1e-9")

    assert error.returncode == 1 and HINT in str(error)
    assert [turn.state for turn in Turn.objects.all()] == [Turn.State.STOPPED]


def test_a15_what_fails_while_cleaning_up_is_logged_and_changes_nothing(house: House, settings: Any, monkeypatch: Any) -> None:
    def breaks(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("/secret/place")

    script(house, [sends(), emits()], [handoff()])
    monkeypatch.setattr(asking, "stop_turn", breaks)

    run = ask(QUERY, assistant=house.scout, asker=house.ground.alice, seconds=60)

    line = log_of(settings)[-1]
    assert run.answer == "A refund takes five working days at most [1]."
    assert (line["event"], line["failureCount"], line["errorTypes"]) == ("cleanup_failed", 1, ["RuntimeError"])
    assert line["sessionId"] == run.session and "/secret" not in json.dumps(line)


def test_a15_what_fails_while_cleaning_up_does_not_hide_why_a_search_failed(house: House, monkeypatch: Any) -> None:
    def breaks(*args: Any, **kwargs: Any) -> None:
        raise CodedError(code="OTHER", message="Other.")

    script(house, ["No.", "No.", "No."], [])
    monkeypatch.setattr(asking, "stop_turn", breaks)

    with pytest.raises(SearchFailed) as caught:
        ask(QUERY, assistant=house.scout, asker=house.ground.alice, seconds=60)

    assert caught.value.code == "SEARCH_FAILED"


def test_a40_the_log_of_a_search_holds_its_events_and_nothing_of_its_content(house: House, settings: Any) -> None:
    script(house, [sends(), emits()], [handoff()])

    search(QUERY)

    started, completed = log_of(settings)
    assert (started["event"], completed["event"]) == ("search_started", "search_completed")
    assert started["queryLength"] == len(QUERY)
    assert (started["orchestratorModel"], started["explorerModel"]) == ("scripted/apes-scout", "scripted/apes-explorer")
    text = (settings.HOME / "logs/runs.jsonl").read_text()
    assert not any(each in text for each in ("refund", "handbook", str(house.root.path), "working days"))


def test_a40_a_log_that_cannot_be_written_disturbs_no_search(house: House, settings: Any) -> None:
    script(house, [sends(), emits()], [handoff()])
    settings.HOME.mkdir(exist_ok=True)
    (settings.HOME / "logs").write_text("a file where a folder should be")

    assert "five working days" in search(QUERY)


def test_a39_feedback_by_its_id_survives_and_counts_once(house: House) -> None:
    script(house, [sends(), emits()], [handoff()])
    search(QUERY)
    name = CuratedResult.objects.get().feedback_id

    first, second = search("--feedback", name, "useful"), search("--feedback", name, "useful")

    assert (first, second) == ("Noted for 1 results, 1 of them new.\n", "Noted for 1 results, 0 of them new.\n")
    assert ResearchSignal.objects.get().weight == 1.0


@pytest.mark.parametrize("name", ["feedface:1", "{session}:9", "{session}:1,9", "{session}", "", "x" * 500])
def test_a39_feedback_on_nothing_known_changes_nothing_and_ends_with_2(house: House, name: str) -> None:
    script(house, [sends(), emits()], [handoff()])
    search(QUERY)

    error = failure("--feedback", name.replace("{session}", ResearchRun.objects.get().session), "useful")

    assert (error.returncode, str(error)) == (2, "There is no such result.")
    assert not ResearchSignal.objects.exists()


def test_a39_nobody_gives_feedback_on_anothers_results(house: House) -> None:
    script(house, [sends(), emits()], [handoff()])
    search(QUERY)

    error = failure("--user", "bob", "--feedback", CuratedResult.objects.get().feedback_id, "useful")

    assert (error.returncode, str(error)) == (2, "There is no such result.")


def test_what_a_document_holds_gives_a_terminal_no_orders(house: House) -> None:
    from subchats.research.response import printable

    assert printable("Pay \x1b]0;pwned\x07 within \u202etwo\tdays.\n") == "Pay ]0;pwned within two\tdays.\n"
