"""A research from the question to its results: what it must not end without, and what counts (A-02 to A-14)."""

import json
from pathlib import Path
from typing import Any

import pytest

from assistants.llm import scripted
from assistants.models import Thread, ToolCall, Turn
from subchats.models import Delegation, Evidence, ExplorerTask, ResearchRun
from tests.kit.turns import last_turn, replies, run_all
from tests.kit.world import World
from tests.research.house import House, build, candidate, emits, handoff, leaf, run_of, sends, task


@pytest.fixture
def house(ground: World, tmp_path: Path) -> House:
    return build(ground, tmp_path)


def calls(thread: Thread, name: str) -> list[ToolCall]:
    return list(ToolCall.objects.filter(turn__thread=thread, name=name).order_by("round"))


def result(call: ToolCall) -> Any:
    return json.loads(call.result)


def test_a07_a_question_is_answered_from_evidence_that_an_explorer_brought(house: House) -> None:
    thread = house.ask([sends(), emits()], [handoff()])

    run, turn = run_of(thread), last_turn(thread)
    (kept,) = run.results.all()
    (evidence,) = kept.evidence.all()
    assert (turn.state, turn.reason) == (Turn.State.DONE, "results")
    assert replies(thread)[-1] == "A refund takes five working days at most [1]."
    assert (kept.number, kept.title, kept.confidence) == (1, "Refund times", 0.9)
    assert (evidence.source, evidence.line, evidence.excerpt) == (
        "handbook/returns/refunds.md", 3, "Refunds are paid within five working days.",
    )  # fmt: skip
    assert run.finished and run.tasks.get().state == ExplorerTask.State.GROUNDED


def test_a08_the_orchestrator_learns_only_what_stands_in_the_documents(house: House) -> None:
    invented = candidate(evidence="Refunds are paid within two hours.")
    misplaced = candidate(evidence="Gift cards are paid back as gift cards.", locator="line 40")
    unknown = candidate(source="handbook/returns/other.md")

    thread = house.ask([sends(), emits()], [handoff(candidate(), invented, misplaced, unknown)])

    (call,) = calls(thread, "subagent")
    (report,) = result(call)["reports"]
    told = json.loads(report["reply"])
    assert [each["excerpt"] for each in told["candidates"]] == ["Refunds are paid within five working days."]
    assert told["candidates"][0]["evidenceId"] == Evidence.objects.get().stable_id
    reasons = [each["reason"] for each in told["refused"]]
    assert reasons[0] == "These words do not stand in handbook/returns/refunds.md."
    assert reasons[1] == "These words do not stand in handbook/returns/refunds.md near line 40, but in line 4."
    assert reasons[2].startswith("There is no document “handbook/returns/other.md”.")


@pytest.mark.parametrize(
    "report",
    [
        handoff(candidate(evidence="Refunds are paid within two hours.")),
        handoff(query="How long does a return take?"),
        '{"candidates": []}',
        json.dumps({"assignment": {"originalQuery": "How long does a refund take?", "method": "posix", "queryVariant": "x"},
                    "candidates": []}),
        "I found that refunds take five days.",
    ],
    ids=["invented words", "another question", "malformed", "no findings", "prose"],
)  # fmt: skip
def test_a07_without_a_grounded_explorer_no_results_are_taken(house: House, report: str) -> None:
    """Journey 9, its first half."""
    thread = house.ask([sends(), emits(), "Then I don't know.", "Really.", "No."], [report, report, report])

    (call,) = calls(thread, "emit_autorag_results")
    assert (call.outcome, call.code) == ("refused", "RESEARCH_NOT_GROUNDED")
    assert last_turn(thread).reason == "research:incomplete"
    assert not run_of(thread).results.exists()


def test_a07_a_seed_or_an_own_search_excuses_nobody_from_sending_an_explorer(house: House) -> None:
    thread = house.ask([emits(), sends(), emits()], [handoff()])

    first, second = calls(thread, "emit_autorag_results")
    assert (first.code, second.outcome) == ("RESEARCH_NOT_GROUNDED", "ok")


def test_a06_text_alone_does_not_end_a_research(house: House) -> None:
    thread = house.ask(["Five days, I guess.", sends(), emits()], [handoff()])

    told = [request.conversation().system for request in scripted.requests("apes-scout")]
    assert "You have not ended the research" not in told[0]
    assert "You have not ended the research: text alone is no result. No explorer was sent out: call subagent." in told[1]
    assert last_turn(thread).reason == "results"


def test_a06_a_research_that_never_ends_with_results_fails_and_says_why(house: House) -> None:
    thread = house.ask(["Five days.", "Five days!", "As I said."], [handoff()])

    turn = last_turn(thread)
    assert (turn.state, turn.reason) == (Turn.State.FAILED, "research:incomplete")
    assert turn.note == ("The assistant did not look into the documents, and without evidence a research gives no answer.")
    assert replies(thread) == ["Five days.", "Five days!", "As I said."]


@pytest.mark.parametrize("missing", ["subagent", "emit_autorag_results"])
def test_a02_without_its_tools_a_research_does_not_begin(house: House, missing: str) -> None:
    house.scout.tools = [name for name in house.scout.tools if name != missing]
    house.scout.save()

    thread = house.ask(["Five days."], [handoff()])

    turn = last_turn(thread)
    assert (turn.state, turn.reason) == (Turn.State.FAILED, "research:tools")
    assert missing in turn.note and not replies(thread)


def test_a09_an_explorer_may_put_a_malformed_report_right(house: House) -> None:
    thread = house.ask([sends(), emits()], ["Refunds take five days.", handoff()])

    told = [request.conversation().system for request in scripted.requests("apes-explorer")]
    assert "Your report is not a handoff yet (INVALID_JSON )" in told[1]
    assert last_turn(thread).reason == "results"


def test_a08_what_was_dispatched_is_frozen(house: House) -> None:
    thread = house.ask([sends(), emits()], [handoff()])

    kept = run_of(thread).tasks.get()
    child = Delegation.objects.get(call=kept.call).child
    assert (kept.query, kept.method, kept.variants) == ("How long does a refund take?", "posix", ["refund", "paid back"])
    assert child.messages.get(role="user").text == kept.text == task()


def test_a08_each_leaf_is_credited_for_its_own_report(house: House) -> None:
    both = {
        "agentScope": "user",
        "artifacts": False,
        "tasks": [leaf(task=task(method="posix")), leaf(task=task(method="bm25"))],
    }
    script = {
        "rules": [
            {"when": {"user": '"bm25"'}, "reply": handoff(candidate(evidence="Refunds come by owl post."))},
            {"when": {"user": '"posix"'}, "reply": handoff()},
        ]
    }

    thread = house.ask([{"calls": [{"name": "subagent", "arguments": both}]}, emits()], script)

    states = dict(run_of(thread).tasks.values_list("method", "state"))
    assert states == {"posix": "grounded", "bm25": "ungrounded"}
    assert last_turn(thread).reason == "results"


def test_a10_the_results_end_the_turn_and_nothing_after_them_counts(house: House) -> None:
    twice = {"calls": emits()["calls"] + emits(answer="Another answer [1].")["calls"]}

    thread = house.ask([sends(), twice, "And one more thing."], [handoff()])

    first, second = calls(thread, "emit_autorag_results")
    assert (first.outcome, second.outcome, second.code) == ("ok", "stopped", "DROPPED")
    assert replies(thread)[-1] == "A refund takes five working days at most [1]."


def test_a11_numbers_of_results_and_mapping_are_one_to_one(house: House) -> None:
    thread = house.ask([sends(), emits(mapped=(2,)), emits(numbers=(1, 1)), emits()], [handoff()])

    first, second, third = calls(thread, "emit_autorag_results")
    assert (first.code, second.code, third.outcome) == ("RESULTS_MISMATCH", "RESULTS_MISMATCH", "ok")


def test_a11_evidence_needs_words_and_they_need_to_stand_there(house: House) -> None:
    entry = {"number": 1, "source": "handbook/returns/refunds.md", "method": "posix", "content": "x"}
    empty = emits(mapping=[{**entry, "evidenceRefs": [{"method": "posix"}]}])
    invented = emits(excerpt="Refunds are paid within two hours.")

    thread = house.ask([sends(), empty, invented, emits()], [handoff()])

    first, second, third = calls(thread, "emit_autorag_results")
    assert (first.code, second.code, third.outcome) == ("EVIDENCE_EMPTY", "EVIDENCE_NOT_VERIFIED", "ok")


def test_a11_confidence_is_clamped_and_unknown_warnings_become_diagnostics(house: House) -> None:
    result_ = {**emits()["calls"][0]["arguments"]["results"][0], "confidence": 7}

    thread = house.ask([sends(), emits(results=[result_], warnings=["empty-query", "strange"])], [handoff()])

    run = run_of(thread)
    assert run.results.get().confidence == 1.0
    assert run.warnings == ["empty-query"]
    assert run.diagnostics == [{"code": "unknown-warning", "severity": "info", "message": "strange"}]


def test_a11_a_caller_learns_session_numbers_and_feedback_ids(house: House) -> None:
    thread = house.ask([sends(), emits()], [handoff()])

    run, (call,) = run_of(thread), calls(thread, "emit_autorag_results")
    assert result(call) == {
        "sessionId": run.session,
        "searched": 1,
        "results": [{"number": 1, "feedbackId": f"{run.session}:1"}],
        "warnings": [],
        "diagnostics": [],
    }


def test_a14_after_three_follow_ups_explorers_are_exhausted(house: House) -> None:
    again = [sends(task=task(variants=(f"refund {number}",))) for number in range(5)]

    thread = house.ask([*again, emits()], [handoff()] * 5)

    sent = calls(thread, "subagent")
    assert [call.outcome for call in sent] == ["ok"] * 4 + ["refused"]
    assert sent[-1].code == "EXPLORER_EXHAUSTED"
    assert last_turn(thread).reason == "results"


def test_a04_a_second_question_waits_for_the_first(house: House) -> None:
    thread = house.ask([sends(), emits(), sends(task=task("And for gift cards?")), emits()], [handoff()])
    from assistants.turns.lifecycle import send_message

    send_message(thread, author=house.ground.alice, text="And for gift cards?")
    run_all()

    first, second = ResearchRun.objects.filter(turn__thread=thread).order_by("pk")
    assert (first.query, second.query) == ("How long does a refund take?", "And for gift cards?")
    assert first.finished and not second.tasks.filter(state="grounded").exists()


def test_a29_each_rejection_is_logged_once_and_says_nothing_of_its_content(house: House, settings: Any, tmp_path: Path) -> None:
    """Journey 10: a wrong model, a folder below the root and a paraphrase, one line each."""
    settings.HOME = tmp_path / "home"
    wrong = sends(model="acme/other", cwd="handbook/returns", task=task("How long does a refund last?"))
    wrong_folder = sends(cwd="handbook/returns", task=task("How long does a refund last?"))
    wrong_query = sends(task=task("How long does a refund last?"))

    thread = house.ask([wrong, wrong_query, wrong_folder, sends(model=None), emits()], [handoff()])

    lines = [json.loads(line) for line in (tmp_path / "home/logs/runs.jsonl").read_text().splitlines()]
    assert [call.code for call in calls(thread, "subagent")][:3] == [
        "DISPATCH_MODEL_MISMATCH", "DISPATCH_QUERY_MISMATCH", "DISPATCH_QUERY_MISMATCH",
    ]  # fmt: skip
    assert [line["event"] for line in lines] == [
        "search_started", "dispatch_rejected", "dispatch_rejected", "dispatch_rejected", "dispatch_autofilled",
        "search_completed",
    ]  # fmt: skip
    assert [line["sequence"] for line in lines if "sequence" in line] == [1, 2, 3, 4]
    text = (tmp_path / "home/logs/runs.jsonl").read_text()
    assert "refund" not in text and "handbook" not in text and str(tmp_path) not in text
