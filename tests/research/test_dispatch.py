"""What a dispatch is, and the fourteen ways to get one wrong (A-16 to A-24, A-28, A-30)."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistants.errors import CodedError
from subchats.research.assignment import ROLE_LINES, Assignment, render_assignment
from subchats.research.codes import CODES
from subchats.research.dispatch import Accepted, Roots, Search, check_dispatch, skeleton
from subchats.research.payload import EXPLORER, KINDS, fill, kind_of, shape_of

QUERY, MODEL = "Why did returns jump in week 47?", "acme/finder-2"
TASK = render_assignment(Assignment(QUERY, "bm25", ("week 47",)))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("roots")
    for name in ("handbook", "handbook/inside", "other"):
        (folder / name).mkdir()
    (folder / "file.txt").write_text("x")
    (folder / "link").symlink_to(folder / "handbook")
    return folder


@pytest.fixture(scope="module")
def search(folders: Path) -> Search:
    return Search(QUERY, MODEL, Roots.pinned({"handbook": folders / "handbook"}))


@pytest.fixture(scope="module")
def leaf(folders: Path) -> dict[str, Any]:
    return {"agent": EXPLORER, "model": MODEL, "cwd": str(folders / "handbook"), "task": TASK}


def single(leaf: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"agentScope": "user", "artifacts": False, **leaf, **changes}


def fan_out(*leaves: Any, **changes: Any) -> dict[str, Any]:
    return {"agentScope": "user", "artifacts": False, "tasks": list(leaves), **changes}


def rejection(payload: dict[str, Any], search: Search) -> tuple[str, str]:
    with pytest.raises(CodedError) as raised:
        check_dispatch(payload, search)
    return raised.value.code, raised.value.field


UNKNOWN = {
    "other case": {"action": "Create", "agent": EXPLORER},
    "shouted": {"action": "LIST"},
    "a number with launch fields": {"action": 42, "agent": EXPLORER, "task": TASK},
    "null": {"action": None, "task": TASK},
    "a list": {"action": ["list"]},
    "blank": {"action": "", "task": TASK},
    "with a space": {"action": "list "},
    "invented": {"action": "explode"},
    "hybrid": {"action": "hybrid", "tasks": []},
    "an alias without anything to launch": {"action": "single"},
    "nothing": {},
    "only a folder": {"cwd": "/"},
}


@pytest.mark.parametrize("payload", UNKNOWN.values(), ids=UNKNOWN)
def test_a16_an_action_counts_only_in_exactly_its_writing(payload: dict[str, Any], search: Search) -> None:
    assert kind_of(payload) == "unknown"
    assert rejection(payload, search) == ("DISPATCH_ACTION_UNKNOWN", ".action")


@pytest.mark.parametrize("field", ["agent", "task", "tasks", "chain", "parallel"])
def test_a16_without_an_action_a_launch_field_makes_a_launch(field: str) -> None:
    assert kind_of({field: None}) == "launch"


@pytest.mark.parametrize("action", sorted(KINDS["admin"]))
def test_a17_diagnostic_actions_go_ahead_without_defaults(action: str, search: Search) -> None:
    payload = {"action": action} | ({"agent": EXPLORER} if action == "get" else {})

    assert check_dispatch(payload, search) == Accepted("admin", action, (), None)


FORBIDDEN = [
    *[(action, "DISPATCH_ADMIN_MUTATION_FORBIDDEN") for action in sorted(KINDS["mutation"])],
    *[(action, "DISPATCH_CONTROL_FORBIDDEN") for action in sorted(KINDS["control"])],
    *[(action, "DISPATCH_SCHEDULE_FORBIDDEN") for action in sorted(KINDS["schedule"])],
]


@pytest.mark.parametrize(("action", "code"), FORBIDDEN)
def test_a17_what_changes_controls_or_schedules_is_forbidden_whatever_comes_with_it(
    action: str, code: str, search: Search, leaf: dict[str, Any]
) -> None:
    assert rejection(single(leaf, action=action, artifacts=True), search) == (code, ".action")


@pytest.mark.parametrize("alias", ["single", "parallel", "tasks"])
def test_a17_an_alias_launches_what_has_the_shape_of_a_launch(alias: str, search: Search, leaf: dict[str, Any]) -> None:
    assert len(check_dispatch(single(leaf, action=alias), search).tasks) == 1


NOT_OWNED = [
    ("list", "agent"), ("list", "tasks"), ("list", "cwd"), ("get", "task"), ("get", "model"), ("models", "chainName"),
    ("models", "artifacts"), ("status", "agent"), ("status", "task"), ("doctor", "agentScope"), ("doctor", "parallel"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "field"), NOT_OWNED)
def test_a18_a_diagnostic_owns_a_few_fields_only(action: str, field: str, search: Search) -> None:
    payload = {"action": action} | ({"agent": EXPLORER} if action == "get" else {}) | {field: "x"}

    assert rejection(payload, search) == ("DISPATCH_MALFORMED", f".{field}")


OWNED = {
    "list": {"agentScope": "user"},
    "get by chain": {"chainName": "c"},
    "models": {"agent": EXPLORER},
    "status": {"id": "1", "runId": "2", "dir": "d", "index": 0, "view": "v", "lines": 10},
    "doctor": {"cwd": ".", "context": "c", "sessionDir": "s"},
}


@pytest.mark.parametrize(("name", "fields"), OWNED.items())
def test_a18_what_a_diagnostic_owns_is_taken(name: str, fields: dict[str, Any], search: Search) -> None:
    assert check_dispatch({"action": name.split()[0], **fields}, search).kind == "admin"


def test_a18_a_list_of_another_scope_and_a_get_of_two_or_nothing_are_rejected(search: Search) -> None:
    assert rejection({"action": "list", "agentScope": "project"}, search) == ("DISPATCH_AGENT_SCOPE_INVALID", ".agentScope")
    assert rejection({"action": "get"}, search) == ("DISPATCH_MALFORMED", ".agent")
    assert rejection({"action": "get", "agent": "a", "chainName": "b"}, search) == ("DISPATCH_MALFORMED", ".agent")


def test_a19_of_many_faults_the_first_in_order_is_named(search: Search, leaf: dict[str, Any], folders: Path) -> None:
    """Journey 10: the order in which faults are named."""
    bad = {"agentScope": "user", "agent": "other", "model": "wrong", "task": " ", "cwd": ""}
    payload: dict[str, Any] = {"action": "explode", "artifacts": True, "agentScope": "all", "chain": [], "tasks": [bad]}
    faults: list[tuple[tuple[str, str], Callable[[], object]]] = [
        (("DISPATCH_ACTION_UNKNOWN", ".action"), lambda: payload.pop("action")),
        (("DISPATCH_ARTIFACTS_INVALID", ".artifacts"), lambda: payload.pop("artifacts")),
        (("DISPATCH_AGENT_SCOPE_INVALID", ".agentScope"), lambda: payload.pop("agentScope")),
        (("DISPATCH_MALFORMED", ".chain"), lambda: payload.update(chain=[7])),
        (("DISPATCH_MALFORMED", ".chain[0]"), lambda: payload.pop("chain")),
        (("DISPATCH_MALFORMED", ".tasks[0].agentScope"), lambda: bad.pop("agentScope")),
        (("DISPATCH_AGENT_IDENTITY", ".tasks[0].agent"), lambda: bad.update(agent=EXPLORER)),
        (("DISPATCH_MODEL_MISMATCH", ".tasks[0].model"), lambda: bad.update(model=MODEL)),
        (("DISPATCH_ASSIGNMENT_INVALID", ".tasks[0].task"), lambda: bad.update(task="Look!")),
        (("DISPATCH_CWD_MISSING", ".tasks[0].cwd"), lambda: bad.update(cwd=str(folders / "handbook/inside"))),
        (("DISPATCH_ASSIGNMENT_INVALID", ".tasks[0].task"), lambda: bad.update(task=TASK.replace("Why", "How"))),
        (("DISPATCH_QUERY_MISMATCH", ".tasks[0].task"), lambda: bad.update(task=TASK)),
        (("DISPATCH_CWD_OUTSIDE_ROOTS", ".tasks[0].cwd"), lambda: bad.update(cwd=leaf["cwd"])),
    ]

    for wanted, mend in faults:
        assert rejection(payload, search) == wanted
        mend()
    assert len(check_dispatch(payload, search).tasks) == 1


def test_a20_what_is_missing_or_null_is_filled_in_on_a_copy(search: Search, leaf: dict[str, Any]) -> None:
    bare = {name: value for name, value in leaf.items() if name != "model"}
    payload = {"artifacts": None, "tasks": [bare, dict(bare, model=None), dict(bare, model=MODEL)]}
    before = copy.deepcopy(payload)

    filled = check_dispatch(payload, search).filled

    assert payload == before
    assert filled and (filled.artifacts, filled.agent_scope, filled.models) == (True, True, 2)
    assert filled.payload["artifacts"] is False and filled.payload["agentScope"] == "user"
    assert [each["model"] for each in filled.payload["tasks"]] == [MODEL] * 3


def test_a20_nothing_is_reported_where_nothing_was_missing(search: Search, leaf: dict[str, Any]) -> None:
    assert not fill(single(leaf), MODEL).anything


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"artifacts": True}, "DISPATCH_ARTIFACTS_INVALID", ".artifacts"),
        ({"artifacts": "false"}, "DISPATCH_ARTIFACTS_INVALID", ".artifacts"),
        ({"artifacts": 0}, "DISPATCH_ARTIFACTS_INVALID", ".artifacts"),
        ({"agentScope": "project"}, "DISPATCH_AGENT_SCOPE_INVALID", ".agentScope"),
        ({"agentScope": ""}, "DISPATCH_AGENT_SCOPE_INVALID", ".agentScope"),
        ({"agentScope": ["user"]}, "DISPATCH_AGENT_SCOPE_INVALID", ".agentScope"),
        ({"model": ""}, "DISPATCH_MODEL_MISMATCH", ".model"),
        ({"model": " "}, "DISPATCH_MODEL_MISMATCH", ".model"),
        ({"model": "acme/other"}, "DISPATCH_MODEL_MISMATCH", ".model"),
        ({"model": "evil/finder-2"}, "DISPATCH_MODEL_MISMATCH", ".model"),
        ({"model": 7}, "DISPATCH_MODEL_MISMATCH", ".model"),
    ],
)
def test_a20_an_explicit_other_value_stays_and_is_rejected(
    change: dict[str, Any], code: str, field: str, search: Search, leaf: dict[str, Any]
) -> None:
    assert rejection(single(leaf, **change), search) == (code, field)


@pytest.mark.parametrize("model", [MODEL, "finder-2", f"{MODEL}:high"])
def test_a23_a_short_name_and_a_thinking_suffix_name_the_same_model(model: str, search: Search, leaf: dict[str, Any]) -> None:
    assert len(check_dispatch(single(leaf, model=model), search).tasks) == 1


@pytest.mark.parametrize("container", ["tasks", "chain", "parallel"])
@pytest.mark.parametrize("value", [[], {}, "x", None, 3])
def test_a21_a_container_is_a_list_with_something_in_it(container: str, value: object, search: Search) -> None:
    assert rejection({container: value}, search) == ("DISPATCH_MALFORMED", f".{container}")


def test_a21_faults_are_named_by_their_path(search: Search, leaf: dict[str, Any]) -> None:
    assert rejection(fan_out(dict(leaf, agent="me")), search) == ("DISPATCH_AGENT_IDENTITY", ".tasks[0].agent")
    nested = {"chain": [{"parallel": [leaf, dict(leaf, model="x")]}]}
    assert rejection(nested, search) == ("DISPATCH_MODEL_MISMATCH", ".chain[0].parallel[1].model")
    assert rejection({"tasks": [leaf, "x"]}, search) == ("DISPATCH_MALFORMED", ".tasks[1]")
    assert rejection({"tasks": [{"task": TASK}]}, search) == ("DISPATCH_AGENT_IDENTITY", ".tasks[0].agent")
    assert rejection({"chain": [{"parallel": []}]}, search) == ("DISPATCH_MALFORMED", ".chain[0].parallel")


def test_a21_leaves_are_visited_root_tasks_chain_parallel_all_the_way_down(search: Search, leaf: dict[str, Any]) -> None:
    payload = single(leaf, parallel=[leaf], chain=[{"parallel": [leaf, leaf]}], tasks=[leaf])

    paths = [task.path for task in check_dispatch(payload, search).tasks]

    assert paths == ["", ".tasks[0]", ".chain[0].parallel[0]", ".chain[0].parallel[1]", ".parallel[0]"]


@pytest.mark.parametrize("agent", ["Autorag-Explorer", "explorer", "", None, 1, "autorag-explorer "])
def test_a22_a_leaf_is_for_exactly_the_explorer(agent: object, search: Search, leaf: dict[str, Any]) -> None:
    assert rejection(single(leaf, agent=agent), search) == ("DISPATCH_AGENT_IDENTITY", ".agent")


@pytest.mark.parametrize("name", ["artifacts", "agentScope"])
def test_a22_what_is_set_once_may_not_stand_in_a_leaf_or_between(name: str, search: Search, leaf: dict[str, Any]) -> None:
    assert rejection(fan_out(dict(leaf, **{name: None})), search) == ("DISPATCH_MALFORMED", f".tasks[0].{name}")
    assert rejection({"chain": [{"parallel": [leaf], name: False}]}, search) == ("DISPATCH_MALFORMED", f".chain[0].{name}")


def test_a23_without_an_active_query_nothing_is_launched(search: Search, leaf: dict[str, Any]) -> None:
    idle = Search(None, search.model, search.roots)

    assert rejection(single(leaf), idle) == ("DISPATCH_NO_ACTIVE_QUERY", "query")


@pytest.mark.parametrize("query", [QUERY.lower(), QUERY + " ", "Why did returns rise in week 47?"])
def test_a23_the_query_is_passed_on_word_for_word(query: str, search: Search, leaf: dict[str, Any]) -> None:
    task = render_assignment(Assignment(query, "bm25", ("week 47",)))

    assert rejection(fan_out(leaf, dict(leaf, task=task)), search) == ("DISPATCH_QUERY_MISMATCH", ".tasks[1].task")


def test_a23_an_accepted_task_has_its_role_lines_and_the_canonical_folder(
    search: Search, leaf: dict[str, Any], folders: Path
) -> None:
    bare = "\n".join(line for line in TASK.split("\n") if line not in ROLE_LINES)

    (task,) = check_dispatch(single(leaf, task=bare, cwd=str(folders / "link")), search).tasks

    assert task.text == TASK
    assert task.root == str((folders / "handbook").resolve())


@pytest.mark.parametrize("cwd", ["handbook/inside", "other", "file.txt", "missing", "handbook/..", ""])
def test_a24_only_a_configured_root_itself_will_do(cwd: str, search: Search, leaf: dict[str, Any], folders: Path) -> None:
    wanted = "DISPATCH_CWD_OUTSIDE_ROOTS" if cwd else "DISPATCH_CWD_MISSING"

    assert rejection(single(leaf, cwd=str(folders / cwd) if cwd else ""), search) == (wanted, ".cwd")


@pytest.mark.parametrize("cwd", [None, 7, " ", "\t"])
def test_a24_a_folder_has_to_be_named(cwd: object, search: Search, leaf: dict[str, Any]) -> None:
    assert rejection(single(leaf, cwd=cwd), search) == ("DISPATCH_CWD_MISSING", ".cwd")


def test_a24_a_root_may_be_called_by_its_name(search: Search, leaf: dict[str, Any], folders: Path) -> None:
    (task,) = check_dispatch(single(leaf, cwd="handbook"), search).tasks

    assert task.root == str((folders / "handbook").resolve())


def test_a24_a_link_that_was_turned_elsewhere_leads_nowhere(tmp_path: Path, leaf: dict[str, Any]) -> None:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
    link = tmp_path / "root"
    link.symlink_to(tmp_path / "mine")
    pinned = Search(QUERY, MODEL, Roots.pinned({"docs": link}))
    assert check_dispatch(single(leaf, cwd=str(link)), pinned).tasks

    link.unlink()
    link.symlink_to(tmp_path / "theirs")

    assert rejection(single(leaf, cwd=str(link)), pinned) == ("DISPATCH_CWD_OUTSIDE_ROOTS", ".cwd")


def test_a24_a_root_that_became_a_link_leads_nowhere(tmp_path: Path, leaf: dict[str, Any]) -> None:
    root, theirs = tmp_path / "root", tmp_path / "theirs"
    root.mkdir()
    theirs.mkdir()
    pinned = Search(QUERY, MODEL, Roots.pinned({"docs": root}))

    root.rmdir()
    root.symlink_to(theirs)

    assert rejection(single(leaf, cwd="docs"), pinned) == ("DISPATCH_CWD_OUTSIDE_ROOTS", ".cwd")


def test_a28_a_rejection_says_code_field_fix_and_shows_how_it_should_be(search: Search, leaf: dict[str, Any]) -> None:
    with pytest.raises(CodedError) as raised:
        check_dispatch(fan_out(leaf, artifacts=True), search)

    first, rest = raised.value.as_line().split("\n", 1)
    assert first == "[DISPATCH_ARTIFACTS_INVALID] field=.artifacts fix=set args.artifacts = false"
    assert len(check_dispatch(json.loads(rest), search).tasks) == 1


@pytest.mark.parametrize(
    ("payload", "shape"),
    [({"action": "list", "x": 1}, "admin"), ({"agent": "a"}, "single"), ({"tasks": []}, "fanout"), ({}, "single"),
     ({"chain": [{}]}, "fanout"), ({"parallel": 1, "action": "no"}, "fanout")],
)  # fmt: skip
def test_a28_the_skeleton_has_the_shape_of_what_was_sent(payload: dict[str, Any], shape: str, search: Search) -> None:
    assert shape_of(payload) == shape
    assert check_dispatch(json.loads(skeleton(shape, search)), search)


def test_a30_there_are_fourteen_codes_and_six_of_them_are_final() -> None:
    final = {code for code, known in CODES.items() if not known.correctable}

    assert len(CODES) == 14 and all(code.startswith("DISPATCH_") and known.fix for code, known in CODES.items())
    assert final == {
        "DISPATCH_ADMIN_MUTATION_FORBIDDEN", "DISPATCH_CONTROL_FORBIDDEN", "DISPATCH_SCHEDULE_FORBIDDEN",
        "DISPATCH_AGENT_IDENTITY", "DISPATCH_CWD_OUTSIDE_ROOTS", "DISPATCH_NO_ACTIVE_QUERY",
    }  # fmt: skip


FIELDS = ["action", "agent", "task", "tasks", "chain", "parallel", "artifacts", "agentScope", "model", "cwd", "chainName"]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", "list", "user", EXPLORER, MODEL, TASK, QUERY, "/", "handbook", "\0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=12,
)


def nested(name: str, depth: int) -> dict[str, Any]:
    payload: Any = {"agent": EXPLORER}
    for _ in range(depth):
        payload = {name: [payload]}
    return dict(payload)


@pytest.mark.parametrize("depth", [40, 400, 900])
@pytest.mark.parametrize("name", ["tasks", "parallel", "task", "made-up"])
def test_a21_what_is_nested_beyond_reason_is_rejected_and_exhausts_nothing(name: str, depth: int, search: Search) -> None:
    payload = {**nested(name, depth), "agent": EXPLORER}

    assert rejection(payload, search)[0] == "DISPATCH_MALFORMED"


@pytest.mark.parametrize("cwd", ["\ud800", "a\0b", "x" * 100_000, "~", "file:///"])
def test_a24_what_can_be_no_path_is_no_folder(cwd: str, search: Search, leaf: dict[str, Any]) -> None:
    assert rejection({**leaf, "cwd": cwd}, search)[0] == "DISPATCH_CWD_OUTSIDE_ROOTS"


@settings(max_examples=300)
@given(payload=st.dictionaries(st.sampled_from(FIELDS), values, max_size=6))
def test_a30_any_payload_is_accepted_or_rejected_with_a_code_and_stays_as_it_was(payload: dict[str, Any]) -> None:
    search, before = Search(QUERY, MODEL, Roots({"handbook": "/"})), copy.deepcopy(payload)

    try:
        accepted = check_dispatch(payload, search)
    except CodedError as error:
        assert error.code in CODES and error.field and error.fix == CODES[error.code].fix
    else:
        assert accepted.kind == "admin" or accepted.tasks
    assert payload == before
