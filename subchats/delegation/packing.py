"""What joins a call to its sub-chats, written into a file of conversations and read out of it again (Z6)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistants.conversations.unpacking import Ids
from assistants.errors import CodedError
from assistants.models import Thread
from subchats.models import Delegation


class PackedDelegation(BaseModel):
    """One sub-chat's place under a call."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    call: Annotated[str, Field(max_length=200)]
    child: Annotated[str, Field(max_length=200)]
    position: Annotated[int, Field(ge=0, le=1000)] = 0
    label: Annotated[str, Field(max_length=120)] = ""
    kind: Delegation.Kind
    task: Annotated[str, Field(max_length=200_000)]
    hand_back: dict[Literal["needed", "established", "owner", "note"], Annotated[str, Field(max_length=20_000)]] | None = None


_DELEGATIONS = TypeAdapter(list[PackedDelegation])


def pack_delegations(thread: Thread) -> list[dict[str, Any]]:
    """Every sub-chat of the thread with the call that opened it."""
    found = Delegation.objects.filter(child__parent=thread).select_related("child").exclude(call=None)
    return [
        {
            "call": str(each.call_id),
            "child": each.child.chat_id,
            "position": each.position,
            "label": each.label,
            "kind": each.kind,
            "task": each.task,
            "hand_back": each.hand_back,
        }
        for each in found
    ]


def unpack_delegations(thread: Thread, data: Any, ids: Ids) -> None:
    """Joins the thread's new calls to its new sub-chats; all of them are back. Raises `IMPORT_BAD`."""
    try:
        packed = _DELEGATIONS.validate_python(data)
    except ValidationError:
        raise CodedError(
            code="IMPORT_BAD", field="file", message="Its sub-chats can't be read.", fix="Export it again."
        ) from None
    for each in packed:
        child = ids.threads[each.child]
        if child.parent_id != thread.chat_id:
            raise ValueError("a sub-chat of another conversation")
        Delegation.objects.create(
            call_id=ids.calls[each.call],
            child=child,
            position=each.position,
            label=each.label,
            kind=each.kind,
            task=each.task.replace("\0", ""),
            returned_at=child.created,
            hand_back={name: text.replace("\0", "") for name, text in each.hand_back.items()} if each.hand_back else None,
        )
