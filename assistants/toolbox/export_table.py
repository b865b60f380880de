"""Offers a kept table as a file (section 6)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from assistants.tables.pointers import get_table
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool


@tool(in_transaction=True)
def export_table(
    context: ToolContext,
    pointer: Annotated[str, Field(description="The pointer that cache_assembled_table returned.")],
    format: Annotated[  # the wire name
        Literal["csv", "xlsx", "json"], Field(description="xlsx and csv for spreadsheets, json for programs.")
    ],
) -> Any:
    """Offer a kept table to the person as a file. They download it in this chat; you get a confirmation, and no content.

    Rows that are not kept yet go through cache_assembled_table first.
    """
    table = get_table(context.thread, pointer)
    return {
        "pointer": table.pointer,
        "format": format,
        "rowCount": table.row_count,
        "columnCount": len(table.columns),
        "shown": "The person can download the file now.",
    }
