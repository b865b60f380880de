"""Random trees of assistants and random things that happen to them, for the property tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

LEAF_ENDS = ("answer", "error", "hand_back", "late_error")
# Those that need a person: a question that ends the turn, and a call that waits for approval.
PERSON_ENDS = ("ask", "send", "answer")


@dataclass(frozen=True)
class Node:
    """One assistant of a tree: how it ends, and whom it asks first, one by one in a reply or in one fan-out."""

    end: str
    fan_out: bool = False
    children: tuple["Node", ...] = ()


@dataclass(frozen=True)
class Deed:
    """Something that happens: a turn runs, its runner dies before or amid it, somebody stops it, the sweeper comes."""

    kind: str
    which: int = 0
    point: str = ""
    nth: int = 1


leaves = st.builds(Node, end=st.sampled_from(LEAF_ENDS))
branches = st.builds(
    Node,
    end=st.sampled_from(LEAF_ENDS),
    fan_out=st.booleans(),
    children=st.lists(leaves, min_size=1, max_size=3).map(tuple),
)
trees = st.builds(
    Node,
    end=st.sampled_from(("answer", "late_error")),
    fan_out=st.booleans(),
    children=st.lists(st.one_of(leaves, branches), min_size=1, max_size=3).map(tuple),
)
helpers = st.builds(Node, end=st.sampled_from(PERSON_ENDS))
towns = st.builds(
    Node,
    end=st.sampled_from(PERSON_ENDS),
    fan_out=st.booleans(),
    children=st.lists(
        st.builds(
            Node,
            end=st.sampled_from(PERSON_ENDS),
            fan_out=st.booleans(),
            children=st.lists(helpers, max_size=2).map(tuple),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
)
POINTS = ("turn.claimed", "llm.requested", "llm.finished", "step.committed", "tool.intent_committed", "tool.effect_done")
deeds = st.one_of(
    st.builds(Deed, kind=st.just("run"), which=st.integers(0, 9)),
    st.builds(Deed, kind=st.just("run"), which=st.integers(0, 9)),
    st.builds(Deed, kind=st.just("stop"), which=st.integers(0, 9)),
    st.builds(Deed, kind=st.just("die"), which=st.integers(0, 9)),
    st.builds(Deed, kind=st.just("crash"), which=st.integers(0, 9), point=st.sampled_from(POINTS), nth=st.integers(1, 3)),
    st.builds(Deed, kind=st.sampled_from(("sweep", "later"))),
)

wishes = st.one_of(
    deeds,
    st.builds(Deed, kind=st.just("run"), which=st.integers(0, 9)),
    st.builds(Deed, kind=st.just("decide"), which=st.integers(0, 9), nth=st.integers(0, 1)),
    st.builds(Deed, kind=st.just("steer"), which=st.integers(0, 9), nth=st.integers(0, 2)),
)


def script_of(tree: Node) -> dict[str, Any]:
    """What the one model of all of them says: the tag in the task tells which node speaks."""
    answered = [_answered(path) for path, node in walk(tree) if node.end == "ask"]
    return {"rules": [*answered, *(_rule(path, node) for path, node in walk(tree))]}


def walk(node: Node, path: str = "0") -> Iterator[tuple[str, Node]]:
    """Every node with its tag, the top first."""
    yield path, node
    for place, child in enumerate(node.children):
        yield from walk(child, f"{path}.{place}")


def tag(path: str) -> str:
    return f"<{path}>"


def _rule(path: str, node: Node) -> dict[str, Any]:
    tasks = [{"assistant": "worker", "task": f"Do {tag(f'{path}.{place}')}"} for place in range(len(node.children))]
    steps: list[Any] = []
    if node.fan_out and len(tasks) > 1:
        plan = [
            {"description": f"Ask {each['task']}", "specialist": "worker", "check": "The report names a figure."}
            for each in tasks
        ]
        steps.append({"calls": [{"name": "write_plan", "arguments": {"steps": plan}}]})
        steps.append({"calls": [{"name": "spawn_agents", "arguments": {"tasks": tasks}}]})
    elif tasks:
        steps.append({"calls": [{"name": "invoke_assistant", "arguments": each} for each in tasks]})
    if node.end == "send":
        steps.append({"calls": [{"name": "send", "arguments": {"to": "anna", "text": tag(path)}}]})
    return {"when": {"user": tag(path)}, "steps": [*steps, _end(path, node)]}


def _answered(path: str) -> dict[str, Any]:
    return {"when": {"user": f"option of {tag(path)}"}, "reply": f"Answered {tag(path)}"}


def _end(path: str, node: Node) -> Any:
    match node.end:
        case "ask":
            options = [f"First option of {tag(path)}", f"Second option of {tag(path)}"]
            question = {"question": f"Which of {tag(path)}?", "options": options}
            return {"calls": [{"name": "ask_clarifying_question", "arguments": question}]}
        case "error":
            return {"error": "MODEL_AUTH"}
        case "late_error":
            return {"text": f"Half of {tag(path)}", "error": "", "break": True}
        case "hand_back":
            return {"calls": [{"name": "hand_back", "arguments": {"whatIsNeeded": "Somebody else."}}]}
    return {"text": f"Answer of {tag(path)}"}
