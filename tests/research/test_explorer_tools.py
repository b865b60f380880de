"""read, grep, find and ls as an explorer's model calls them, and as nobody else may (A-12, A-24)."""

import json
from pathlib import Path
from typing import Any

import pytest

from assistants.documents.indexing import index_root
from assistants.models import DocumentRoot, ToolCall
from assistants.tools.registry import find_tool
from tests.kit.turns import run_all
from tests.kit.world import World
from tests.research.house import House, build, emits, handoff, sends

# These tools run in threads of their own, which see only what was committed.
pytestmark = pytest.mark.django_db(transaction=True)
NAMES = ("read", "grep", "find", "ls")


@pytest.fixture
def house(ground: World, tmp_path: Path) -> House:
    return build(ground, tmp_path)


def explore(house: House, *calls: tuple[str, dict[str, Any]]) -> dict[str, ToolCall]:
    """What became of the calls of an explorer that makes all of them at once."""
    wanted = {"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}
    house.ask([sends(), emits()], [wanted, handoff()])
    return {call.name: call for call in ToolCall.objects.filter(name__in=NAMES)}


def test_a12_an_explorer_reads_lists_finds_and_greps_its_folder(house: House) -> None:
    made = explore(
        house,
        ("ls", {}),
        ("find", {"pattern": "*.md"}),
        ("grep", {"pattern": "working|gift"}),
        ("read", {"path": "handbook/returns/refunds.md", "start": 3, "lines": 1}),
    )

    found = {name: json.loads(call.result) for name, call in made.items()}
    assert found["ls"]["folders"] == ["handbook"]
    assert [each["document"] for each in found["find"]["documents"]] == ["handbook/returns/refunds.md"]
    assert [each["line"] for each in found["grep"]["matches"]] == [3, 4]
    assert found["read"]["text"] == "Refunds are paid within five working days."


def test_a24_an_explorer_reads_nothing_but_the_folder_of_its_assignment(house: House, tmp_path_factory: Any) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "secret.md").write_text("canary\n")
    index_root(DocumentRoot.objects.create(tenant=house.ground.apes, name="diary", path=str(other)))

    made = explore(house, ("ls", {}), ("grep", {"pattern": "canary"}), ("read", {"path": "diary/secret.md"}))

    assert json.loads(made["ls"].result)["folders"] == ["handbook"]
    assert json.loads(made["grep"].result)["matches"] == []
    assert "DOCUMENT_UNKNOWN" in made["read"].result


def test_a32_an_explorer_that_looks_outside_is_told_so_with_the_code(house: House) -> None:
    made = explore(house, ("ls", {"path": "handbook/.."}), ("find", {"pattern": "*", "path": "/etc"}))

    assert all("EXPLORER_PATH_CONTAINMENT" in call.result for call in made.values())


@pytest.mark.parametrize("name", NAMES)
def test_a12_nobody_without_an_assignment_has_these_tools(house: House, name: str) -> None:
    arguments = {"ls": {}, "find": {"pattern": "*"}, "grep": {"pattern": "x"}, "read": {"path": "handbook/returns/refunds.md"}}
    house.ground.lead.tools = [name]
    house.ground.lead.save()
    house.ground.script([{"calls": [{"name": name, "arguments": arguments[name]}]}, "Done."])

    house.ground.open("Please look")
    run_all()

    call = ToolCall.objects.get(name=name)
    assert call.outcome != ToolCall.Outcome.OK and "working days" not in str(call.result)
    tool = find_tool(name)
    assert tool and tool.reads_private and tool.takes_untrusted and tool.filters and tool.effect == "pure"
