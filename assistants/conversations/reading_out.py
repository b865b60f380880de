"""A conversation as Markdown that reads from top to bottom, whatever stands in it (Z5)."""

import json
import re
from collections.abc import Iterator
from typing import Any

ROLES = {"user": "You", "assistant": "Assistant"}
MAX_RESULT_CHARS = 20_000


def read_out(data: dict[str, Any], *, level: int = 1) -> str:
    """What `pack_thread` gave as Markdown: the shown branch, with calls as blocks and each sub-chat under its call.

    Words of people and models stand as they are; a fence around what a tool gave back is longer than any inside it.
    """
    return "\n\n".join(_pieces(data, level)).rstrip() + "\n"


def _pieces(data: dict[str, Any], level: int) -> Iterator[str]:
    yield f"{'#' * min(level, 6)} {_one_line(data['title']) or 'Untitled'}"
    yield f"*{_one_line(data['assistant_name'])}, {data['created'][:16].replace('T', ' ')}*"
    below = {each["call"]: child for each in data.get("delegations", ()) for child in _children(data, each["child"])}
    calls: dict[str, list[dict[str, Any]]] = {}
    for call in data["calls"]:
        calls.setdefault(call["message"], []).append(call)
    for message in shown_branch(data):
        text = "\n\n".join(part.get("text", "") for part in message["parts"] if part.get("type") == "text").strip()
        if message["role"] in ROLES and text:
            yield f"{'#' * min(level + 1, 6)} {_one_line(message['author']) or ROLES[message['role']]}"
            yield text
        for call in calls.get(message["id"], ()):
            yield from _call(call)
            if call["id"] in below:
                yield read_out(below[call["id"]], level=level + 2).rstrip()


def shown_branch(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages from the first to the leaf, each the parent of the next; all in order where the leaf leads nowhere."""
    by_id = {each["id"]: each for each in data["messages"]}
    path: list[dict[str, Any]] = []
    at = by_id.get(data["leaf"])
    while at is not None and at not in path:
        path.insert(0, at)
        at = by_id.get(at["parent"])
    return path or list(data["messages"])


def _children(data: dict[str, Any], chat_id: str) -> list[dict[str, Any]]:
    return [each for each in data["sub_chats"] if each["id"] == chat_id]


def _call(call: dict[str, Any]) -> Iterator[str]:
    yield f"> **{_one_line(call['name'])}** – {call['outcome'] or call['state']}"
    yield _fenced(json.dumps(call["arguments"], ensure_ascii=False, indent=2), "json")
    if call["result"]:
        cut = call["result"][:MAX_RESULT_CHARS]
        yield _fenced(cut + ("\n… (cut)" if cut != call["result"] else ""))


def _fenced(text: str, language: str = "") -> str:
    ticks = max((len(found) for found in re.findall(r"`{3,}", text)), default=2) + 1
    return f"{'`' * ticks}{language}\n{text}\n{'`' * ticks}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
