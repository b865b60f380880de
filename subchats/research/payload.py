"""A dispatch as it was sent: what kind it is, its leaves with their paths, and its safe defaults filled in (A-16 to A-22)."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

EXPLORER = "autorag-explorer"
CONTAINERS = ("tasks", "chain", "parallel")
LAUNCH_FIELDS = ("agent", "task", *CONTAINERS)
MOST_DEPTH = 32
"""So deep may a payload be nested: what is read by functions that call themselves must not exhaust the stack."""
KINDS: dict[str, frozenset[str]] = {
    "admin": frozenset({"list", "get", "models", "status", "doctor"}),
    "mutation": frozenset({"create", "update", "delete", "eject", "disable", "enable", "reset"}),
    "control": frozenset({"interrupt", "resume", "steer", "append-step"}),
    "schedule": frozenset({"schedule", "schedule-list", "schedule-status", "schedule-cancel"}),
}
LAUNCH_ALIASES = frozenset({"single", "parallel", "tasks"})


@dataclass(frozen=True)
class Leaf:
    """One task for one explorer. `path` is empty for the payload itself, else such as `.chain[0].parallel[1]`."""

    path: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class Filled:
    """A payload with its defaults, and which of them had to be filled in (A-20)."""

    payload: dict[str, Any]
    artifacts: bool
    agent_scope: bool
    models: int

    @property
    def anything(self) -> bool:
        return self.artifacts or self.agent_scope or self.models > 0


def kind_of(payload: Mapping[str, Any]) -> str:
    """launch, admin, control, mutation, schedule or unknown. An action alone decides, in exactly this writing (A-16, A-17)."""
    launches = any(field in payload for field in LAUNCH_FIELDS)
    if "action" not in payload:
        return "launch" if launches else "unknown"
    action = payload["action"]
    if not isinstance(action, str):
        return "unknown"
    if action in LAUNCH_ALIASES:
        return "launch" if launches else "unknown"
    return next((kind for kind, actions in KINDS.items() if action in actions), "unknown")


def shape_of(payload: Mapping[str, Any]) -> str:
    """Which skeleton shows how it is done right: admin, single or fanout (A-28)."""
    if kind_of(payload) == "admin":
        return "admin"
    return "fanout" if any(name in payload for name in CONTAINERS) else "single"


def too_deep(payload: Mapping[str, Any]) -> str:
    """The first field that is nested deeper than anybody means it; empty if none is."""
    for name, value in payload.items():
        level = [value]
        for _ in range(MOST_DEPTH):
            level = [inner for each in level for inner in _inside(each)]
        if level:
            return name
    return ""


def fill(payload: Mapping[str, Any], model: str) -> Filled:
    """A deep copy with what is missing or null filled in; what is given, even blank, stays (A-20).

    A model's short name becomes the configured reference that ends with it.
    """
    filled = copy.deepcopy(dict(payload))
    artifacts, scope = filled.get("artifacts") is None, filled.get("agentScope") is None
    if artifacts:
        filled["artifacts"] = False
    if scope:
        filled["agentScope"] = "user"
    models = 0
    for leaf in leaves_of(filled):
        given = leaf.fields.get("model")
        if given is None:
            leaf.fields["model"] = model
            models += 1
        elif isinstance(given, str) and "/" in model and given == model.rpartition("/")[2]:
            leaf.fields["model"] = model
    return Filled(filled, artifacts, scope, models)


def leaves_of(payload: dict[str, Any]) -> list[Leaf]:
    """Every executable leaf: the payload itself, then tasks, chain and parallel, each all the way down (A-21)."""
    own = [Leaf("", payload)] if "agent" in payload or "task" in payload else []
    return own + [Leaf(path, node) for path, node in nodes_of(payload) if isinstance(node, dict) and _is_leaf(node)]


def nodes_of(payload: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every entry of every container with its path, parents first; what is no container is left out."""
    for name in CONTAINERS:
        entries = payload.get(name)
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            here = f"{path}.{name}[{place}]"
            yield here, entry
            if isinstance(entry, dict):
                yield from nodes_of(entry, here)


def containers_of(payload: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every container with its path, in the same order, whatever is in it."""
    for name in CONTAINERS:
        if name in payload:
            yield f"{path}.{name}", payload[name]
    for here, entry in nodes_of(payload, path):
        if isinstance(entry, dict):
            yield from ((f"{here}.{name}", entry[name]) for name in CONTAINERS if name in entry)


def _is_leaf(node: Mapping[str, Any]) -> bool:
    """An entry without a container is meant to be executed, whatever else it lacks."""
    return "agent" in node or not any(name in node for name in CONTAINERS)


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
