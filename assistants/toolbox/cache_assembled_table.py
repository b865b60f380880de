"""Keeps rows that were put together from several reports as one table behind a pointer (section 6, J-21)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.tables.pointers import Draft, store_table
from assistants.tables.sources import check_sources
from assistants.tables.values import Cell, Column, shortened
from assistants.tools.context import ToolContext
from assistants.tools.registry import all_tools, tool

TABLE_TOOLS = {"cache_assembled_table", "make_chart", "export_table", "ask_clarifying_question"}
PREVIEWED = 5


# The person reads titles and cells, and nothing carries them out; orders to an assistant are looked for all the same.
@tool(effect="idempotent", in_transaction=True, free_text=("title", "columns", "rows"))
def cache_assembled_table(
    context: ToolContext,
    title: Annotated[str, Field(min_length=1, max_length=200, description="What the table shows, in a few words.")],
    columns: Annotated[
        list[Column],
        Field(min_length=1, max_length=30, description="Each with a name of its own and the type of its cells."),
    ],
    rows: Annotated[
        list[list[Cell]],
        Field(
            min_length=1,
            max_length=1000,
            description="Every row has one cell for each column, in their order: a text, a number, a day as YYYY-MM-DD,"
            " true or false; null where nothing is known. A number stands without a unit; as a string of digits if it has"
            " more than 15.",
        ),
    ],
    sources: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(
            min_length=1,
            max_length=40,
            description="Where the rows came from: the sub_chat_id of each report, the name of a tool whose result you"
            " got in this chat, or “person” for numbers that a person wrote here.",
        ),
    ],
) -> Any:
    """Keep rows that you put together from several reports or tool results as one table, and get a pointer to it.

    Use it before you report numbers or rows onward that came separately from several specialists, instead of repeating
    them as prose: only a kept table can be charted or exported, and nobody has to copy its rows again. The person sees the
    table at once, so say what it shows instead of listing it. When you report to another assistant, name the pointer and
    the columns. A kept table never changes; keep a corrected one as a new table.
    """
    ignored = TABLE_TOOLS | {each.name for each in all_tools() if each.delegates}
    draft = Draft(
        title=title,
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in rows),
        sources=tuple(check_sources(context.thread, sources, ignored=ignored)),
    )
    table = store_table(context.thread, context.call, draft)
    return {
        "pointer": table.pointer,
        "rowCount": table.row_count,
        "columnCount": len(table.columns),
        "preview": shortened(table.rows[:PREVIEWED]),
    }
