"""Finds out which tool call a delta belongs to, whatever a server does with indexes and ids."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any


@dataclass
class _Slot:
    number: int
    provider_id: str
    name: str = ""
    arguments: StringIO = field(default_factory=StringIO)

    def is_complete(self) -> bool:
        try:
            json.loads(self.arguments.getvalue())
        except (ValueError, RecursionError):
            return False
        return True


@dataclass(frozen=True)
class CallPiece:
    """One delta, placed: `number` counts the reply's calls from 0."""

    number: int
    provider_id: str
    name: str
    arguments: str


class CallSlots:
    """The calls of one reply so far.

    The index decides where there is one; else the id, else the order. Ids only name a call within its reply: they may
    be missing, the same for two calls, or change from delta to delta (F25). Servers that give every call the index 0
    are known too, so a name that comes again behind complete arguments begins another call.
    """

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}

    def place(self, delta: Mapping[str, Any], position: int) -> CallPiece:
        """Places one entry of a delta's `tool_calls`; `position` is its place in that list."""
        function = delta.get("function")
        function = function if isinstance(function, Mapping) else {}
        provider_id, name = _text(delta.get("id")), _text(function.get("name"))
        arguments = _arguments(function.get("arguments"))
        index = delta.get("index")
        slot = self._find(index if isinstance(index, int) else None, position, provider_id, name)
        if slot is None or _begins_another(slot, provider_id, name, arguments):
            slot = _Slot(len(self._slots), provider_id)
            self._slots.append(slot)
        if isinstance(index, int):
            self._by_index[index] = slot
        # A name that is only repeated must not be glued to itself.
        piece = "" if name == slot.name else name
        slot.name += piece
        slot.arguments.write(arguments)
        return CallPiece(slot.number, slot.provider_id, piece, arguments)

    def _find(self, index: int | None, position: int, provider_id: str, name: str) -> _Slot | None:
        if index is not None:
            return self._by_index.get(index)
        if position > 0 and name:
            return None
        known = next((slot for slot in reversed(self._slots) if provider_id and slot.provider_id == provider_id), None)
        if known or not self._slots or (name and provider_id):
            return known
        return self._slots[-1]


def _begins_another(slot: _Slot, provider_id: str, name: str, arguments: str) -> bool:
    if not name or not slot.name:
        return False
    other_id = bool(provider_id) and provider_id != slot.provider_id
    if name != slot.name:
        return other_id or bool(slot.arguments.getvalue().strip())
    return slot.is_complete() and (other_id or bool(arguments.strip()))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: Any) -> str:
    """Arguments as raw text; a missing key is empty text (J4), an object, as some servers send, its JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
