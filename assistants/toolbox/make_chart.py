"""Draws a kept table as a chart for the person (section 6)."""

from typing import Annotated, Any

from pydantic import Field

from assistants.tables import charts
from assistants.tables.pointers import get_table
from assistants.tools.context import ToolContext
from assistants.tools.registry import tool

Name = Annotated[str, Field(max_length=80)]


@tool(in_transaction=True, free_text=("x", "y", "title"))
def make_chart(
    context: ToolContext,
    pointer: Annotated[str, Field(description="The pointer that cache_assembled_table returned.")],
    kind: Annotated[
        charts.Kind,
        Field(description="bar compares up to 60 rows, line shows a course, pie up to 12 shares, scatter two measures."),
    ],
    x: Annotated[Name, Field(description="The column along the axis, or the names of the shares. For scatter, of numbers.")],
    y: Annotated[
        list[Name],
        Field(min_length=1, max_length=charts.MAX_SERIES, description="The columns of numbers to draw; one for a pie."),
    ],
    title: Annotated[str, Field(max_length=200, description="Leave it out to take the table's.")] = "",
) -> Any:
    """Draw a kept table as a chart. The person sees it at once; you get a confirmation, and no rows come back to you.

    Rows are drawn in the order in which they stand in the table. Numbers that are not kept yet go through
    cache_assembled_table first.
    """
    chart = charts.make_chart(get_table(context.thread, pointer), charts.Wish(kind, x, tuple(y), title))
    return {
        "pointer": pointer,
        "drawn": f"{kind} chart of {', '.join(series.name for series in chart.series)} by {chart.x}",
        "rowCount": len(chart.rows),
        "shown": "The person sees the chart now.",
    }
