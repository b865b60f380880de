"""Finds documents of an explorer's folder by their names."""

from typing import Annotated, Any

from pydantic import Field

from assistants.documents import posix
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.research.assigned import only_for_explorers, open_roots


@tool(reads_private=True, takes_untrusted=True, filters=True, describe=only_for_explorers)
def find(
    context: ToolContext,
    pattern: Annotated[
        str,
        Field(min_length=1, max_length=200, description="Such as *.pdf, *invoice* or reports/*/2024*."),
    ],
    path: Annotated[str, Field(max_length=1000, description="The folder to look in and below; empty for all.")] = "",
) -> Any:
    """Find documents by their names, in a folder and everything below it."""
    found = posix.find(open_roots(context), path, pattern)
    note = {} if found.complete else {"note": "There are more than these: use a narrower pattern or folder."}
    return {"documents": [{"document": entry.name, "bytes": entry.size} for entry in found.entries], **note}
