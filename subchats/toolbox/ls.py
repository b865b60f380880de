"""Lists a folder of an explorer's documents."""

from typing import Annotated, Any

from pydantic import Field

from assistants.documents import posix
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool
from subchats.research.assigned import only_for_explorers, open_roots


@tool(reads_private=True, takes_untrusted=True, filters=True, describe=only_for_explorers)
def ls(
    context: ToolContext,
    path: Annotated[str, Field(max_length=1000, description="A folder; empty for the top.")] = "",
) -> Any:
    """List the documents and folders that lie directly in a folder."""
    found = posix.ls(open_roots(context), path)
    note = {} if found.complete else {"note": "There are more than these: use find."}
    folders = [entry.name for entry in found.entries if entry.is_folder]
    documents = [{"document": entry.name, "bytes": entry.size} for entry in found.entries if not entry.is_folder]
    return {"folders": folders, "documents": documents, **note}
