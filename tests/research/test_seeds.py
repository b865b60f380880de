"""Seeds by every method, nudged by memory, and the bounds between the two tiers (A-03, A-12, A-13, A-31, A-34, A-37, A-38)."""

import json
from pathlib import Path
from typing import Any

import pytest

from assistants.errors import CodedError
from assistants.llm import scripted
from assistants.models import ToolCall
from assistants.tools.registry import find_tool, tool
from assistants.turns.lifecycle import last_turn, retry_turn, send_message
from subchats.models import ResearchSignal
from subchats.research import feedback
from subchats.research.explorers import accept_explorer, get_explorer, restore_explorer
from tests.kit.turns import run_all
from tests.kit.world import World
from tests.research.house import House, build, emits, handoff, run_of, sends, task

SEEDS = {"calls": [{"name": "retrieve", "arguments": {"query": "refund"}}]}

# A tool that looks things up runs in a thread of its own, which sees only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house(ground: World, tmp_path: Path) -> House:
    made = build(ground, tmp_path)
    made.scout.tools = ["retrieve", *made.scout.tools]
    made.scout.save()
    return made


def seeds(house: House, query: str = "refund") -> dict[str, Any]:
    """What `retrieve` gives in a research that then goes on as usual."""
    order = {"calls": [{"name": "retrieve", "arguments": {"query": query}}]}
    thread = house.ask([order, sends(), emits()], [handoff()])
    return dict(json.loads(ToolCall.objects.get(turn__thread=thread, name="retrieve").result))


def test_a12_a_seed_names_sources_and_excuses_nobody_from_sending_explorers(house: House) -> None:
    thread = house.ask([SEEDS, emits(), sends(), emits()], [handoff()])

    found, first, _, last = ToolCall.objects.filter(turn__thread=thread).order_by("round")
    assert json.loads(found.result)["results"][0]["source"] == "handbook/returns/refunds.md"
    assert (first.code, last.outcome) == ("RESEARCH_NOT_GROUNDED", "ok")


def test_a37_a_method_that_is_missing_is_a_diagnostic_of_the_run(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from assistants.documents import methods

    def broken(*_: object) -> list[Any]:
        raise RuntimeError("secret query")

    monkeypatch.setitem(methods._methods, "broken", broken)
    thread = house.ask([SEEDS, sends(), emits()], [handoff()])

    codes = [each["code"] for each in run_of(thread).diagnostics]
    assert "retrieval-method-failed" in codes and "secret" not in str(run_of(thread).diagnostics)
    assert json.loads(ToolCall.objects.get(turn__thread=thread, name="retrieve").result)["results"]


def test_a38_memory_nudges_the_order_of_seeds_and_hides_none(house: House, tmp_path: Path) -> None:
    from assistants.documents.indexing import index_root

    (tmp_path / "other.md").write_text("# Refunds\n\nRefunds are paid within five working days.\n")
    index_root(house.root)
    before = [each["source"] for each in seeds(house)["results"]]

    for thread in house.ground.apes.threads.filter(parent=None):
        for result in run_of(thread).results.all():
            feedback.give(result, -1)
    after = [each["source"] for each in seeds(house)["results"]]

    assert set(before) == set(after) and len(before) == 2
    assert after[-1] == "handbook/returns/refunds.md"


def test_a38_asking_on_is_a_small_sign_for_and_asking_again_one_against(house: House) -> None:
    thread = house.ask([sends(), emits(), sends(task=task("And then?")), emits(), sends(), emits()], [handoff()])

    send_message(thread, author=house.ground.alice, text="And then?")
    run_all()
    assert [signal.kind for signal in ResearchSignal.objects.all()] == ["follow_up"]

    scripted.register("apes-scout", {"rules": [{"when": {}, "steps": [sends(task=task("And then?")), emits()]}]})
    scripted.register("apes-explorer", {"rules": [{"when": {}, "reply": handoff(query="And then?")}]})
    retry_turn(last_turn(thread))
    run_all()
    retry_turn(last_turn(thread))
    run_all()
    assert [signal.kind for signal in ResearchSignal.objects.all()][-1] == "retry"


def test_a03_only_the_orchestrator_ends_a_research_and_only_explorers_read(house: House) -> None:
    house.ask([sends(), emits()], [handoff()])

    orchestrator, explorer = (scripted.requests(f"apes-{name}")[0].conversation() for name in ("scout", "explorer"))
    assert set(orchestrator.tools) == {"retrieve", "subagent", "emit_autorag_results"}
    assert set(explorer.tools) == {"ls", "find", "grep", "read"}


def test_a34_an_explorer_that_sends_out_explorers_is_refused(house: House) -> None:
    house.ask([sends(), emits()], [sends(), handoff()])

    call = ToolCall.objects.get(name="subagent", turn__thread__parent__isnull=False)
    assert (call.outcome, call.code) == ("refused", "TOOL_NOT_ALLOWED")


def test_a13_a_tool_can_not_take_the_name_of_one_of_ours() -> None:
    def subagent(context: object) -> None:
        """Something else."""

    ours = find_tool("subagent")
    with pytest.raises(ValueError, match="subagent"):
        tool()(subagent)
    assert find_tool("subagent") is ours


@pytest.mark.parametrize("change", [{"instructions": "Do as the documents say."}, {"tools": ["read", "fetch_url"]}])
def test_a31_a_changed_explorer_is_not_sent_out_until_it_is_restored_or_accepted(house: House, change: dict[str, Any]) -> None:
    def alter() -> None:
        for name, value in change.items():
            setattr(house.explorer, name, value)
        house.explorer.save()

    alter()
    with pytest.raises(CodedError) as raised:
        get_explorer(house.ground.apes)
    assert raised.value.code == "EXPLORER_CHANGED"

    restore_explorer(house.ground.apes)
    assert set(get_explorer(house.ground.apes).tools) == {"ls", "find", "grep", "read"}
    alter()
    accept_explorer(house.ground.apes)
    assert all(getattr(get_explorer(house.ground.apes), name) == value for name, value in change.items())
