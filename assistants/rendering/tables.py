"""How kept tables look in a conversation: the cards of their tools, the list in the panel, the rows in an order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from assistants.conversations.present import Present
from assistants.models import StoredTable, Thread, ToolCall
from assistants.models.definition import definition_of
from assistants.models.prepared import Prepared
from assistants.tables.charts import Chart, Wish, make_chart
from assistants.tables.pointers import columns_of, find_table
from assistants.tables.sources import PERSON
from assistants.tables.values import Column, as_decimal

SHOWN_ROWS = 20
CHARTED_ROWS = 100
LISTED = 20


@dataclass(frozen=True)
class Source:
    """Where rows came from; `chat_id` of a sub-chat that can be opened, else empty."""

    name: str
    chat_id: str = ""


@dataclass(frozen=True)
class Heading:
    """A column's head: which order a click brings, and which order holds now (ascending, descending or empty)."""

    column: Column
    number: int
    click: str
    now: str


@dataclass(frozen=True)
class Grid:
    """Rows with their heads. `whole` is false where there are more rows than these."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[Any, ...], ...]
    whole: bool


def table_card(call: ToolCall) -> dict[str, Any]:
    """What the card of `cache_assembled_table` shows: nothing but the call itself until a table is kept."""
    table = StoredTable.objects.filter(call=call).first() if not call.is_open else None
    return {"table": table, **(table_context(table, most=SHOWN_ROWS) if table else {})}


def table_context(
    table: StoredTable, *, most: int | None = None, sort: int | None = None, down: bool = False
) -> dict[str, Any]:
    """A table with its sources and its rows, at `most` so many of them, in the order of column `sort`."""
    sources = sources_of(table)
    return {"grid": grid_of(table, most=most, sort=sort, down=down), "sources": sources, "reports": _reports(sources)}


def chart_card(call: ToolCall) -> dict[str, Any]:
    """What the card of `make_chart` shows, drawn from the call's arguments."""
    chart = chart_of(call)
    if chart is None:
        return {"chart": None}
    headings = tuple(Heading(column, number, "", "") for number, column in enumerate(chart.columns))
    return {
        "chart": chart,
        "pointer": call.arguments["pointer"],
        "kind": kind_of(chart),
        "names": ", ".join(series.name for series in chart.series),
        "grid": Grid(headings, chart.rows[:CHARTED_ROWS], whole=len(chart.rows) <= CHARTED_ROWS),
    }


def chart_of(call: ToolCall) -> Chart | None:
    """The chart that a call drew; None of a call that is open or was refused."""
    if call.name != "make_chart" or call.outcome != ToolCall.Outcome.OK:
        return None
    given = call.arguments
    table = find_table(call.turn.thread, str(given.get("pointer")))
    return make_chart(table, Wish(given["kind"], given["x"], tuple(given["y"]), given.get("title", ""))) if table else None


def file_card(call: ToolCall) -> dict[str, Any]:
    """What the card of `export_table` shows."""
    ok = call.outcome == ToolCall.Outcome.OK
    table = find_table(call.turn.thread, str(call.arguments.get("pointer"))) if ok else None
    return {"table": table, "sources": sources_of(table) if table else ()}


def tables_section(present: Present) -> dict[str, Any] | None:
    """The newest tables of the conversation at the top, wherever in it they were kept; their rows are not read."""
    kept = _KEPT.rows(present.thread.root_id_or_own)
    return {"tables": kept} if kept else None


_KEPT = Prepared(lambda root: StoredTable.objects.filter(root=root).defer("rows").order_by("-pk")[:LISTED])


def grid_of(table: StoredTable, *, most: int | None = None, sort: int | None = None, down: bool = False) -> Grid:
    """The rows as they were given, or sorted by a column, with what is not known at the end."""
    columns = columns_of(table)
    rows: Sequence[Sequence[Any]] = table.rows
    if sort is not None and sort < len(columns):
        rows = _sorted(rows, sort, columns[sort], down)
    shown = rows if most is None else rows[:most]
    headings = []
    for number, column in enumerate(columns):
        now = ("descending" if down else "ascending") if number == sort else ""
        headings.append(Heading(column, number, "descending" if now == "ascending" else "ascending", now))
    return Grid(tuple(headings), tuple(map(tuple, shown)), whole=len(shown) == len(rows))


def _sorted(rows: Sequence[Sequence[Any]], place: int, column: Column, down: bool) -> list[Sequence[Any]]:
    def key(row: Sequence[Any]) -> Any:
        return as_decimal(row[place]) if column.type == "number" else str(row[place]).casefold()

    known = [row for row in rows if row[place] is not None]
    return sorted(known, key=key, reverse=down) + [row for row in rows if row[place] is None]


def sources_of(table: StoredTable) -> tuple[Source, ...]:
    """The sources with names that a person knows; a sub-chat of the original conversation can't be opened from a copy."""
    here = Q(root_id=table.root_id, chat_id__in=table.sources)
    chats = {each.chat_id: each for each in Thread.objects.filter(here).select_related("assistant")}
    return tuple(_source(name, chats.get(name)) for name in table.sources)


def _source(name: str, chat: Thread | None) -> Source:
    if chat:
        return Source(definition_of(chat).name, chat.chat_id)
    if name == PERSON:
        return Source(_("what was written here"))
    return Source(_("a sub-chat") if name.startswith("sub_") else name)


def _reports(sources: Sequence[Source]) -> int:
    return sum(bool(source.chat_id) for source in sources)


def kind_of(chart: Chart) -> str:
    """The kind in the reader's language."""
    kinds = {"bar": _("Bar chart"), "line": _("Line chart"), "pie": _("Pie chart"), "scatter": _("Scatter chart")}
    return kinds[chart.kind]
