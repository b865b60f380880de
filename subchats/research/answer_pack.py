"""What a local discovery answers, read strictly, and how the answers for several folders become one policy (A-35)."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

DIRECT, RETRY, RAW = "direct_use", "jikji_retry", "raw_fallback_after_retry"
ACTIONS = (DIRECT, RETRY, RAW)
"""The strictest first: use what was found; ask once more; after that, look into the folders by hand."""
MOST_PATHS = 200
RETRIES = 2
"""Folders are looked through by hand only after so many finds."""


class PackInvalid(ValueError):
    """An answer that is no answer pack; whoever gave it counts as unavailable."""


@dataclass(frozen=True)
class Pack:
    """One folder's answer. `paths` are relative to the folder, the best first; None of `followups` allows none."""

    paths: tuple[str, ...]
    action: str
    stop: bool
    forbidden: frozenset[str]
    followups: frozenset[str]
    keep_order: bool


@dataclass(frozen=True)
class Policy:
    """What explorers may do now. `finds` counts how often was asked; `available` is false while every folder's find failed;
    `answers` are documents by their names."""

    finds: int = 0
    available: bool = True
    action: str = RAW
    stop: bool = False
    forbidden: frozenset[str] = frozenset()
    followups: frozenset[str] = frozenset()
    keep_order: bool = False
    answers: tuple[str, ...] = ()

    @property
    def raw(self) -> bool:
        """Whether the folders may be looked through by hand."""
        return self.finds > 0 and (not self.available or (self.action == RAW and self.finds >= RETRIES))

    def allows(self, tool: str, document: str = "") -> bool:
        """Whether a tool may be used now, on this document. What was found may be read; what is forbidden stays so."""
        if self.finds == 0:
            return False
        if not self.available:
            return True
        if tool in self.forbidden:
            return False
        return self.raw or tool in self.followups or (tool == "read" and document in self.answers)


def parse_pack(text: str, root: str) -> Pack:
    """An answer pack for the folder at the real path `root`. Paths that lead out of it are left out. Raises `PackInvalid`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PackInvalid("It is no JSON.") from error
    if not isinstance(data, dict):
        raise PackInvalid("It is no JSON object.")
    policy = data.get("tool_call_policy")
    if not isinstance(policy, dict):
        raise PackInvalid("tool_call_policy is missing.")
    if data.get("handoff_action") not in ACTIONS:
        raise PackInvalid("handoff_action is none of the three.")
    named = (inside(root, each) for each in _texts(data, "answer_paths"))
    return Pack(
        paths=tuple(dict.fromkeys(path for path in named if path))[:MOST_PATHS],
        action=data["handoff_action"],
        stop=_flag(policy, "stop_after_find"),
        forbidden=frozenset(_texts(policy, "forbidden_tools")),
        followups=frozenset(_texts(policy, "allowed_followups")),
        keep_order=_flag(data, "agent_should_not_rerank"),
    )


def merge_packs(packs: Sequence[Pack], answers: Sequence[str], *, finds: int) -> Policy:
    """One policy for several folders, and each time the stricter rule. Without any pack nothing is restricted."""
    if not packs:
        return Policy(finds=finds, available=False)
    return Policy(
        finds=finds,
        action=min((each.action for each in packs), key=ACTIONS.index),
        stop=any(each.stop for each in packs),
        forbidden=frozenset().union(*(each.forbidden for each in packs)),
        followups=frozenset.intersection(*(each.followups for each in packs)),
        keep_order=any(each.keep_order for each in packs),
        answers=tuple(dict.fromkeys(answers)),
    )


def as_json(policy: Policy) -> dict[str, Any]:
    """The form that is kept with a research."""
    kept = {name: getattr(policy, name) for name in ("finds", "available", "action", "stop", "keep_order")}
    lists = {name: sorted(getattr(policy, name)) for name in ("forbidden", "followups")}
    return {**kept, **lists, "answers": list(policy.answers)}


def from_json(kept: dict[str, Any]) -> Policy:
    """The policy that was kept; an empty one is that of a research that has not asked yet."""
    if not kept:
        return Policy()
    sets = {name: frozenset(kept[name]) for name in ("forbidden", "followups")}
    return Policy(**{**kept, **sets, "answers": tuple(kept["answers"])})


def inside(root: str, path: str) -> str:
    """The path relative to the folder, with forward slashes; nothing for one that leads out of it by whatever way."""
    if not path or "\0" in path or ".." in path.replace("\\", "/").split("/"):
        return ""
    real = os.path.realpath(os.path.join(root, path))
    return os.path.relpath(real, root) if real.startswith(f"{root.rstrip('/')}/") else ""


def _texts(data: dict[str, Any], name: str) -> list[str]:
    value = data.get(name)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise PackInvalid(f"{name} is no list of texts.")
    return value


def _flag(data: dict[str, Any], name: str) -> bool:
    value = data.get(name)
    if not isinstance(value, bool):
        raise PackInvalid(f"{name} is neither true nor false.")
    return value
