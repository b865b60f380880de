"""What a person sent up from a sub-chat, as the conversation above shows it: from whom, on what, and drawn like there."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from assistants.models import Message, Thread


def sent_up_bodies(thread: Thread, messages: Collection[Message]) -> Mapping[UUID, dict[str, Any]]:
    """The messages among these that hold a sub-chat's result; a model reads them as they were written."""
    found = {}
    for message in messages:
        part = next((each for each in message.parts if each["type"] == "sub_result"), None)
        if part is not None:
            told = {name: part.get(name, "") for name in ("name", "chat_id", "asked")}
            found[message.pk] = {**told, "text": message.text.partition("\n\n")[2]}
    return found
