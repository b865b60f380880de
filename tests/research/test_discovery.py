"""The local discovery: its answers read strictly, merged by the stricter rule, and the gate that they set (A-33, A-35)."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assistants.documents.indexing import index_root
from assistants.documents.methods import retrieve
from assistants.errors import CodedError
from assistants.models import DocumentRoot, ToolCall
from subchats.models import LocalDiscovery
from subchats.research.answer_pack import (
    ACTIONS,
    DIRECT,
    RAW,
    RETRY,
    Pack,
    PackInvalid,
    Policy,
    as_json,
    from_json,
    merge_packs,
    parse_pack,
)
from subchats.research.find_command import FindFailed, check_command, run_find
from tests.kit.world import World
from tests.research.house import House, build, emits, handoff, run_of, sends

ASKS = {"calls": [{"name": "retrieve", "arguments": {"query": "refund", "methods": ["discovery"]}}]}
READS = {"calls": [{"name": "read", "arguments": {"path": "handbook/returns/refunds.md"}}]}
GREPS = {"calls": [{"name": "grep", "arguments": {"pattern": "refund"}}]}

pytestmark = pytest.mark.django_db(transaction=True)


def pack(**changes: Any) -> dict[str, Any]:
    return {
        "answer_paths": ["returns/refunds.md"],
        "handoff_action": DIRECT,
        "tool_call_policy": {"stop_after_find": False, "forbidden_tools": [], "allowed_followups": []},
        "agent_should_not_rerank": True,
        **changes,
    }


@dataclass
class Stub:
    """A command that answers what was written down for a folder, and writes down what it was asked."""

    house: House
    folder: Path

    def answers(self, text: str | dict[str, Any], *, folder: str = "") -> None:
        (self.folder / f"answer{folder}").write_text(text if isinstance(text, str) else json.dumps(text))

    @property
    def asked(self) -> list[list[str]]:
        log = self.folder / "asked"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


SCRIPT = """
import json, os, pathlib, sys
home = pathlib.Path(__file__).parent
with open(home / "asked", "a") as log:
    log.write(json.dumps([sys.argv[1], sys.argv[2], *sorted(os.environ)]) + "\\n")
own = home / ("answer" + pathlib.Path(sys.argv[1]).name)
print((own if own.exists() else home / "answer").read_text())
"""


@pytest.fixture
def house(ground: World, tmp_path: Path) -> House:
    (tmp_path / "docs").mkdir()
    made = build(ground, tmp_path / "docs")
    made.scout.tools = ["retrieve", *made.scout.tools]
    made.scout.save()
    return made


@pytest.fixture
def stub(house: House, tmp_path: Path) -> Stub:
    (tmp_path / "find.py").write_text(SCRIPT)
    command = f"{sys.executable} {tmp_path / 'find.py'} {{root}} {{query}}"
    check_command(command)
    LocalDiscovery.objects.create(tenant=house.ground.apes, command=command, enabled=True)
    made = Stub(house, tmp_path)
    made.answers(pack())
    return made


def outcomes(name: str) -> list[tuple[str, str]]:
    calls = ToolCall.objects.filter(name=name).order_by("turn_id", "round")
    return [(call.outcome, call.code) for call in calls]


def test_a35_it_is_off_by_default_and_off_is_told(house: House) -> None:
    found = retrieve(house.ground.open("hello", assistant=house.scout), "refund")

    assert ("jikji-unavailable", "info") in {(each.code, each.severity) for each in found.diagnostics}
    house.ask([sends(), emits()], [GREPS, handoff()])
    assert outcomes("grep") == [("ok", "")]


def test_a35_nobody_is_sent_into_folders_before_the_first_find(house: House, stub: Stub) -> None:
    thread = house.ask([sends(), ASKS, sends(), emits()], [READS, handoff()])

    assert outcomes("subagent") == [("refused", "DISCOVERY_FIRST"), ("ok", "")]
    assert run_of(thread).finished and run_of(thread).discovery["finds"] == 1


def test_a35_what_was_found_may_be_read_and_nothing_else_looked_through(house: House, stub: Stub) -> None:
    (Path(house.root.path) / "other.md").write_text("# Other\n\nText.\n")
    index_root(house.root)
    other = {"calls": [{"name": "read", "arguments": {"path": "handbook/other.md"}}]}

    house.ask([ASKS, sends(), emits()], [GREPS, other, READS, handoff()])

    assert outcomes("grep") == [("refused", "DISCOVERY_FORBIDS")]
    assert outcomes("read") == [("refused", "DISCOVERY_FORBIDS"), ("ok", "")]


def test_a35_folders_are_open_after_the_second_find_if_the_answer_says_so(house: House, stub: Stub) -> None:
    stub.answers(pack(handoff_action=RAW))

    house.ask([ASKS, sends(), ASKS, sends(), emits()], [GREPS, handoff()])

    assert outcomes("grep") == [("refused", "DISCOVERY_FORBIDS"), ("ok", "")]
    assert len(stub.asked) == 2


def test_a35_a_command_that_fails_everywhere_leaves_the_folders_open(house: House, stub: Stub) -> None:
    stub.answers("no JSON")

    thread = house.ask([ASKS, sends(), emits()], [GREPS, handoff()])

    assert outcomes("grep") == [("ok", "")]
    assert "jikji-find-failed" in {each["code"] for each in run_of(thread).diagnostics}
    assert json.loads(ToolCall.objects.get(name="retrieve").result)["localDiscovery"]["available"] is False


def test_a35_it_is_asked_of_every_folder_that_the_asker_may_read(house: House, stub: Stub, tmp_path: Path) -> None:
    from django.contrib.auth.models import Group

    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text("# A\n\nA refund.\n")
        root = DocumentRoot.objects.create(tenant=house.ground.apes, name=name, path=str(tmp_path / name))
        index_root(root)
        stub.answers(pack(answer_paths=["a.md"]), folder=name)
    root.groups.add(Group.objects.create(name="board"))

    found = retrieve(house.ground.open("hello", assistant=house.scout), "refund", methods=["discovery"])

    assert [each.source for each in found.results] == ["handbook/returns/refunds.md", "open/a.md"]
    assert {Path(each[0]).name for each in stub.asked} == {"docs", "open"}


def test_a35_what_lies_outside_or_was_never_read_in_is_not_named(house: House, stub: Stub, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "docs" / "link.md").symlink_to(tmp_path / "secret.md")
    stub.answers(pack(answer_paths=["../secret.md", str(tmp_path / "secret.md"), "link.md", "none.md", "returns/refunds.md"]))

    found = retrieve(house.ground.open("hello", assistant=house.scout), "refund", methods=["discovery"])

    assert [each.source for each in found.results] == ["handbook/returns/refunds.md"]


def test_a33_the_command_gets_no_key_no_shell_and_no_option(house: House, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    retrieve(house.ground.open("hello", assistant=house.scout), "--delete; $(touch x) 'a", methods=["discovery"])

    [(_, query, *environment)] = stub.asked
    assert query == "delete; $(touch x) 'a"
    assert set(environment) <= {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "HOME", "TMPDIR"}


@pytest.mark.parametrize(
    ("body", "seconds", "reason"),
    [
        ("import time; time.sleep(600)", 0.5, "no answer within"),
        ("import sys; sys.exit(3)", 60, "code 3"),
        ("print('x' * 3_000_000)", 60, "too much|code"),
    ],
)
def test_a35_a_command_is_bounded(tmp_path: Path, body: str, seconds: float, reason: str) -> None:
    (tmp_path / "find.py").write_text(body)

    with pytest.raises(FindFailed, match=reason):
        run_find(f"{sys.executable} {tmp_path / 'find.py'} {{root}} {{query}}", root=str(tmp_path), query="x", seconds=seconds)


@pytest.mark.parametrize("command", ["", "find {root} {query}", "/no/such/program {root} {query}", "/bin/sh {root}", "'"])
def test_a35_a_command_that_can_not_work_is_refused(command: str) -> None:
    with pytest.raises(CodedError) as raised:
        check_command(command)
    assert raised.value.code == "COMMAND_INVALID" and raised.value.fix


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "[]",
        "[" * 100_000,
        json.dumps({}),
        json.dumps(pack(handoff_action="DIRECT_USE")),
        json.dumps(pack(answer_paths="a.md")),
        json.dumps(pack(answer_paths=[1])),
        json.dumps(pack(agent_should_not_rerank="yes")),
        json.dumps(pack(tool_call_policy=None)),
        json.dumps(pack(tool_call_policy={"stop_after_find": 1, "forbidden_tools": [], "allowed_followups": []})),
        json.dumps(pack(tool_call_policy={"stop_after_find": False, "forbidden_tools": []})),
    ],
)
def test_a35_a_malformed_pack_is_no_answer(broken: str, tmp_path: Path) -> None:
    with pytest.raises(PackInvalid):
        parse_pack(broken, str(tmp_path))


def made(action: str = RAW, *, forbidden: str = "", followups: str = "", stop: bool = False, order: bool = False) -> Pack:
    return Pack((), action, stop, frozenset(forbidden.split()), frozenset(followups.split()), order)


def test_a35_of_several_folders_the_stricter_rule_counts() -> None:
    merged = merge_packs(
        [
            made(RAW, forbidden="find", followups="grep ls", stop=True),
            made(RETRY, forbidden="ls", followups="grep", order=True),
        ],
        ["a/x.md", "a/x.md"],
        finds=2,
    )

    assert merged == Policy(2, True, RETRY, True, frozenset({"find", "ls"}), frozenset({"grep"}), True, ("a/x.md",))
    for first in ACTIONS:
        for second in ACTIONS:
            stricter = ACTIONS[min(ACTIONS.index(first), ACTIONS.index(second))]
            assert merge_packs([made(first), made(second)], [], finds=1).action == stricter
    assert from_json(as_json(merged)) == merged


@pytest.mark.parametrize(
    ("action", "finds", "raw"),
    [(DIRECT, 1, False), (DIRECT, 2, False), (RETRY, 2, False), (RAW, 1, False), (RAW, 2, True), (RAW, 3, True)],
)
def test_a35_the_gate(action: str, finds: int, raw: bool) -> None:
    policy = merge_packs([made(action, forbidden="find", followups="ls")], ["a/x.md"], finds=finds)

    assert policy.raw is raw
    assert [policy.allows(tool) for tool in ("grep", "ls", "find")] == [raw, True, False]
    assert (policy.allows("read", "a/x.md"), policy.allows("read", "a/y.md")) == (True, raw)


def test_a35_without_a_find_nothing_is_open_and_without_an_answer_everything() -> None:
    assert not Policy().allows("grep")
    assert merge_packs([], [], finds=1).allows("grep")
    assert not merge_packs([made(forbidden="read")], ["a/x.md"], finds=1).allows("read", "a/x.md")


def test_a35_an_answer_that_is_to_be_used_as_it_is_stops_the_asking(house: House, stub: Stub) -> None:
    stub.answers(pack(tool_call_policy={"stop_after_find": True, "forbidden_tools": [], "allowed_followups": []}))

    house.ask([ASKS, ASKS, sends(), emits()], [READS, handoff()])

    assert len(stub.asked) == 1
    first, second = (json.loads(call.result) for call in ToolCall.objects.filter(name="retrieve").order_by("round"))
    assert [each["source"] for each in first["results"]] == [each["source"] for each in second["results"]]
