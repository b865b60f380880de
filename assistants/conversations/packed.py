"""What a file of conversations must look like before anything is taken from it: types, bounds, and what names what."""

import json
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistants.errors import CodedError
from assistants.models import Message, ToolCall, Turn

from .packing import FORMAT, VERSION

MAX_BYTES = 20 * 1024 * 1024
MAX_DEPTH = 8
Name = Annotated[str, Field(max_length=200)]
Id = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=2 * 1024 * 1024)]
Round = Annotated[int, Field(ge=0, le=10_000)]
Count = Annotated[int, Field(ge=0, le=2_000_000_000)]


class Node(BaseModel):
    """What is not known is left out: a later version may hold more."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PackedMessage(Node):
    id: Id
    role: Literal["user", "assistant", "tool"]
    state: Annotated[str, Field(max_length=12)] = Message.State.COMPLETE
    created: Name = ""
    parent: Id = ""
    turn: int | None = None
    round: Round = 0
    parts: Annotated[list[dict[str, Any]], Field(max_length=200)] = []


class PackedTurn(Node):
    id: int
    user_message: Id = ""
    state: Annotated[str, Field(max_length=10)] = Turn.State.DONE
    reason: Annotated[str, Field(max_length=60)] = ""
    note: Annotated[str, Field(max_length=2000)] = ""
    round: Round = 0
    model: Annotated[str, Field(max_length=120)] = ""
    input_tokens: Count = 0
    output_tokens: Count = 0
    prompt_tokens: Count = 0
    context_window: Count = 0
    model_calls: Count = 0
    cost: Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=6)] = Decimal(0)
    token_cap: Count | None = None
    unplanned_handovers: Count = 0
    root: int | None = None
    states: Annotated[list[tuple[Name, Turn.State, Round]], Field(max_length=20_000)] = []
    created: Name = ""
    started: Name = ""
    finished: Name = ""


class PackedCall(Node):
    id: Id
    turn: int
    message: Id = ""
    round: Round
    index: Round
    name: Name
    arguments: dict[str, Any] = {}
    state: Annotated[str, Field(max_length=8)] = ToolCall.State.SETTLED
    outcome: Annotated[str, Field(max_length=8)] = ""
    result: Text = ""
    code: Annotated[str, Field(max_length=60)] = ""
    answer: dict[str, Any] | None = None
    started: Name = ""
    settled: Name = ""


class PackedColumn(Node):
    name: Name
    type: Literal["text", "number", "date", "bool"]


class PackedTable(Node):
    pointer: Annotated[str, Field(pattern=r"^tbl_[0-9a-f]{12}$")]
    title: Name
    columns: Annotated[list[PackedColumn], Field(max_length=500)]
    rows: Annotated[list[list[str | int | float | bool | None]], Field(max_length=200_000)]
    call: Id = ""


class PackedThread(Node):
    """One conversation. `delegations` and whatever else an upper app packed is checked by that app."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: Id
    title: Name = ""
    assistant: Annotated[str, Field(max_length=50)] = ""
    created: Name = ""
    leaf: Id = ""
    messages: Annotated[list[PackedMessage], Field(max_length=20_000)]
    turns: Annotated[list[PackedTurn], Field(max_length=20_000)] = []
    calls: Annotated[list[PackedCall], Field(max_length=50_000)] = []
    tables: Annotated[list[PackedTable], Field(max_length=1000)] = []
    sub_chats: Annotated[list["PackedThread"], Field(max_length=2000)] = []


def read_file(content: bytes) -> list[Any]:
    """The conversations in a file, not looked at yet. Raises `IMPORT_TOO_LARGE`, `IMPORT_UNREADABLE`."""
    if len(content) > MAX_BYTES:
        megabytes = MAX_BYTES // 1024 // 1024
        raise _refusal("IMPORT_TOO_LARGE", f"The file is larger than {megabytes} MB.", "Bring it in in several parts.")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise _refusal(
            "IMPORT_UNREADABLE", "This is no JSON file.", "Choose a file that was downloaded here as JSON."
        ) from None
    known = isinstance(data, dict) and data.get("format") == FORMAT and isinstance(data.get("conversations"), list)
    if not known or data.get("version") != VERSION:
        fix = "Choose a file that was downloaded as JSON from a conversation's menu."
        raise _refusal("IMPORT_UNREADABLE", "This file holds no conversations of this product.", fix)
    return list(data["conversations"])


def check_thread(data: Any) -> PackedThread:
    """One conversation as typed values. Raises `IMPORT_BAD` that names the place at fault, never what stands there."""
    try:
        found = PackedThread.model_validate(data)
    except (ValidationError, RecursionError) as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) if isinstance(error, ValidationError) else "sub_chats"
        raise _refusal("IMPORT_BAD", f"It can't be read at {place[:100]}.", "Export it again.") from None
    _check_depth(found, MAX_DEPTH)
    return found


def _check_depth(thread: PackedThread, left: int) -> None:
    if left == 0:
        raise _refusal("IMPORT_BAD", "Its sub-chats lie deeper in each other than any can here.", "Export it again.")
    for child in thread.sub_chats:
        _check_depth(child, left - 1)


def _refusal(code: str, message: str, fix: str) -> CodedError:
    return CodedError(code=code, field="file", message=message, fix=fix)
