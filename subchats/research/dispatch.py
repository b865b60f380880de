"""Decides about a dispatch: rejected with one code, its field and the fix, or launched (A-16 to A-30)."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistants.errors import CodedError

from .assignment import Assignment, AssignmentInvalid, ensure_role_lines, parse_assignment, render_assignment
from .codes import CODES
from .payload import EXPLORER, Filled, Leaf, containers_of, fill, kind_of, leaves_of, nodes_of, shape_of, too_deep

FORBIDDEN = {
    "mutation": "DISPATCH_ADMIN_MUTATION_FORBIDDEN",
    "control": "DISPATCH_CONTROL_FORBIDDEN",
    "schedule": "DISPATCH_SCHEDULE_FORBIDDEN",
    "unknown": "DISPATCH_ACTION_UNKNOWN",
}
ONCE = ("artifacts", "agentScope")
OWNED = {
    "list": {"action", "agentScope"},
    "get": {"action", "agent", "chainName"},
    "models": {"action", "agent"},
    "status": {"action", "id", "runId", "dir", "index", "view", "lines"},
    "doctor": {"action", "cwd", "context", "sessionDir"},
}


@dataclass(frozen=True)
class Roots:
    """The folders that explorers may be sent to, by name, as they were when the search began (A-24)."""

    paths: Mapping[str, str]

    @classmethod
    def pinned(cls, folders: Mapping[str, str | Path]) -> "Roots":
        """Resolves each folder once: a link that is turned elsewhere afterwards leads nowhere."""
        return cls({name: os.path.realpath(folder) for name, folder in folders.items()})

    def find(self, cwd: str) -> str | None:
        """The canonical path of the root that `cwd` names or is; None for anything else, be it inside of one."""
        try:
            real = self.paths.get(cwd) or os.path.realpath(cwd)
        except ValueError:  # a NUL, or half a character, is in no path
            return None
        is_root = real in self.paths.values() and os.path.isdir(real) and os.path.realpath(real) == real
        return real if is_root else None


@dataclass(frozen=True)
class Search:
    """What a dispatch is held against: the active query (None when there is none), the explorers' model, the roots."""

    query: str | None
    model: str
    roots: Roots


@dataclass(frozen=True)
class Task:
    """One accepted leaf: who looks for what, where, and the task's text with its role lines."""

    path: str
    assignment: Assignment
    text: str
    root: str


@dataclass(frozen=True)
class Accepted:
    """A dispatch that goes ahead: a diagnostic action, or the tasks of a launch with what was filled in."""

    kind: str
    action: str
    tasks: tuple[Task, ...]
    filled: Filled | None


def check_dispatch(payload: Mapping[str, Any], search: Search) -> Accepted:
    """The dispatch, ready to be carried out. The payload itself is not changed. Raises `CodedError` with one of `CODES`."""
    kind = kind_of(payload)
    if kind in FORBIDDEN:
        raise _rejected(FORBIDDEN[kind], ".action", payload, search)
    if kind == "admin":
        _check_diagnostic(payload, search)
        return Accepted(kind, payload["action"], (), None)
    if name := too_deep(payload):
        raise _rejected("DISPATCH_MALFORMED", f".{name}", payload, search)
    filled = fill(payload, search.model)
    _check_envelope(filled.payload, payload, search)
    leaves = leaves_of(filled.payload)
    for leaf in leaves:
        _check_leaf(leaf, payload, search)
    if search.query is None:
        raise _rejected("DISPATCH_NO_ACTIVE_QUERY", "query", payload, search)
    return Accepted(kind, "launch", tuple(_accept(leaf, payload, search) for leaf in leaves), filled)


def skeleton(shape: str, search: Search) -> str:
    """A dispatch of this shape as it should be, for the model to fill in (A-28)."""
    if shape == "admin":
        return json.dumps({"action": "list", "agentScope": "user"})
    assignment = Assignment(search.query or "<the person's query, word for word>", "<method>", ("<wording 1>", "<wording 2>"))
    root = next(iter(search.roots.paths), "<allowed-root>")
    leaf = {"agent": EXPLORER, "model": search.model, "cwd": root, "task": render_assignment(assignment)}
    top: dict[str, Any] = {"agentScope": "user", "artifacts": False}
    return json.dumps(top | leaf if shape == "single" else top | {"tasks": [leaf]}, ensure_ascii=False)


def _check_diagnostic(payload: Mapping[str, Any], search: Search) -> None:
    """Each diagnostic action owns a few fields and gets no defaults (A-18)."""
    action = payload["action"]
    for name in payload:
        if name not in OWNED[action]:
            raise _rejected("DISPATCH_MALFORMED", f".{name}", payload, search)
    if action == "list" and payload.get("agentScope", "user") != "user":
        raise _rejected("DISPATCH_AGENT_SCOPE_INVALID", ".agentScope", payload, search)
    if action == "get" and ("agent" in payload) == ("chainName" in payload):
        raise _rejected("DISPATCH_MALFORMED", ".agent", payload, search)


def _check_envelope(filled: dict[str, Any], payload: Mapping[str, Any], search: Search) -> None:
    """What is set once for all, then the containers, then the entries that can't be a leaf at all (A-19, A-21)."""
    if filled["artifacts"] is not False:
        raise _rejected("DISPATCH_ARTIFACTS_INVALID", ".artifacts", payload, search)
    if filled["agentScope"] != "user":
        raise _rejected("DISPATCH_AGENT_SCOPE_INVALID", ".agentScope", payload, search)
    if (path := next(_malformed(filled), None)) is not None:
        raise _rejected("DISPATCH_MALFORMED", path, payload, search)


def _malformed(filled: dict[str, Any]) -> Iterator[str]:
    """The places that are not what they should be, in the order in which they are reported."""
    yield from (path for path, container in containers_of(filled) if not isinstance(container, list) or not container)
    yield from (path for path, node in nodes_of(filled) if not isinstance(node, dict))
    leaves = {leaf.path for leaf in leaves_of(filled)}
    for path, node in nodes_of(filled):
        yield from (f"{path}.{name}" for name in ONCE if name in node and path not in leaves)
    if not leaves:
        yield ".task"


def _check_leaf(leaf: Leaf, payload: Mapping[str, Any], search: Search) -> None:
    """The first fault of a leaf in the order nested fields, agent, model, task, cwd (A-19)."""
    fields, path = leaf.fields, leaf.path
    for name in ONCE:
        if path and name in fields:
            raise _rejected("DISPATCH_MALFORMED", f"{path}.{name}", payload, search)
    if fields.get("agent") != EXPLORER:
        raise _rejected("DISPATCH_AGENT_IDENTITY", f"{path}.agent", payload, search)
    if not _same_model(fields.get("model"), search.model):
        raise _rejected("DISPATCH_MODEL_MISMATCH", f"{path}.model", payload, search)
    task, cwd = fields.get("task"), fields.get("cwd")
    if not isinstance(task, str) or not task.strip():
        raise _rejected("DISPATCH_ASSIGNMENT_INVALID", f"{path}.task", payload, search)
    if not isinstance(cwd, str) or not cwd.strip():
        raise _rejected("DISPATCH_CWD_MISSING", f"{path}.cwd", payload, search)


def _accept(leaf: Leaf, payload: Mapping[str, Any], search: Search) -> Task:
    """The second look at a leaf, now that its form is right: assignment, query, folder (A-23)."""
    try:
        assignment = parse_assignment(leaf.fields["task"])
    except AssignmentInvalid as error:
        raise _rejected("DISPATCH_ASSIGNMENT_INVALID", f"{leaf.path}.task", payload, search) from error
    if assignment.query != search.query:
        raise _rejected("DISPATCH_QUERY_MISMATCH", f"{leaf.path}.task", payload, search)
    root = search.roots.find(leaf.fields["cwd"])
    if root is None:
        raise _rejected("DISPATCH_CWD_OUTSIDE_ROOTS", f"{leaf.path}.cwd", payload, search)
    return Task(leaf.path, assignment, ensure_role_lines(leaf.fields["task"]), root)


def _same_model(given: object, configured: str) -> bool:
    """Whether a leaf names the explorers' model; how hard it shall think (`:high`) is no part of the name (A-23)."""
    return isinstance(given, str) and (given == configured or given.rpartition(":")[0] == configured)


def _rejected(code: str, field: str, payload: Mapping[str, Any], search: Search) -> CodedError:
    known = CODES[code]
    return CodedError(
        code=code,
        field=field,
        fix=known.fix,
        correctable=known.correctable,
        message=skeleton(shape_of(payload), search),
    )
