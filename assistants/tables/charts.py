"""What of a table a chart shows: columns that fit its kind, and few enough values to tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assistants.errors import CodedError
from assistants.models import StoredTable

from .pointers import columns_of
from .values import Column, as_decimal, as_text

Kind = Literal["bar", "line", "pie", "scatter"]
MAX_SERIES = 8
# More values than these can't be told apart in a chart as wide as a message.
MAX_VALUES = {"bar": 60, "line": 1000, "pie": 12, "scatter": 1000}


@dataclass(frozen=True)
class Wish:
    """A chart that is asked for: `x` and each of `y` name a column."""

    kind: Kind
    x: str
    y: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True)
class Series:
    """One column's values, in the order of the rows; None where nothing is known."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """A chart that can be drawn. `labels` are the cells of x as texts; `places` the same as numbers, for a scatter chart.

    `columns` and `rows` are the numbers as a table, `low` and `high` the least and the largest of them as they were given.
    """

    kind: Kind
    title: str
    x: str
    labels: tuple[str, ...]
    places: tuple[float | None, ...]
    series: tuple[Series, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    low: str
    high: str


def make_chart(table: StoredTable, wish: Wish) -> Chart:
    """Takes the columns out of the table, by name.

    Raises `CHART_COLUMN` (unknown, named twice, not of numbers) and `CHART_VALUES` (too many, none, or negative in a pie).
    """
    columns = columns_of(table)
    x = _place(columns, wish.x, "x")
    ys = [_place(columns, name, f"y.{number}") for number, name in enumerate(wish.y)]
    _check_columns(wish, columns, x, ys)
    cells = [[row[place] for row in table.rows] for place in ys]
    _check_values(wish, cells)
    known = sorted((as_decimal(cell), as_text(cell)) for column in cells for cell in column if cell is not None)
    return Chart(
        kind=wish.kind,
        title=wish.title or table.title,
        x=columns[x].name,
        labels=tuple(as_text(row[x]) for row in table.rows),
        places=_numbers([row[x] for row in table.rows]) if wish.kind == "scatter" else (),
        series=tuple(Series(columns[place].name, _numbers(each)) for place, each in zip(ys, cells, strict=True)),
        columns=tuple(columns[place] for place in (x, *ys)),
        rows=tuple(tuple(row[place] for place in (x, *ys)) for row in table.rows),
        low=known[0][1],
        high=known[-1][1],
    )


def _place(columns: Sequence[Column], name: str, field: str) -> int:
    for place, column in enumerate(columns):
        if column.name == name:
            return place
    names = ", ".join(f"{column.name} ({column.type})" for column in columns)
    raise CodedError(
        code="CHART_COLUMN",
        field=field,
        message=f"The table has no column “{name[:80]}”. Its columns: {names}.",
        fix="Name a column exactly as listed.",
    )


def _check_columns(wish: Wish, columns: Sequence[Column], x: int, ys: Sequence[int]) -> None:
    if len({x, *ys}) <= len(ys):
        raise CodedError(
            code="CHART_COLUMN", field="y", message="A column is named twice.", fix="Name every column once, in x or in y."
        )
    if wish.kind == "pie" and len(ys) > 1:
        raise CodedError(
            code="CHART_COLUMN", field="y", message="A pie shows one column of numbers.", fix="Name one column, or draw bars."
        )
    numeric = {f"y.{number}": place for number, place in enumerate(ys)} | ({"x": x} if wish.kind == "scatter" else {})
    for field, place in numeric.items():
        if columns[place].type != "number":
            raise CodedError(
                code="CHART_COLUMN",
                field=field,
                message=f"“{columns[place].name}” holds {columns[place].type}, not numbers.",
                fix="Name a column of type number.",
            )


def _check_values(wish: Wish, cells: Sequence[Sequence[Any]]) -> None:
    most = MAX_VALUES[wish.kind]
    if len(cells[0]) > most:
        other = "Draw bars" if wish.kind == "pie" and len(cells[0]) <= MAX_VALUES["bar"] else "Draw a line"
        raise _no_values(
            f"The table has {len(cells[0])} rows; a {wish.kind} chart shows at most {most}.",
            f"{other}, or keep a smaller table, such as one with the rest summed up in one row.",
        )
    known = [as_decimal(cell) for column in cells for cell in column if cell is not None]
    if not known:
        raise _no_values("There is no number in these columns.", "Name a column that holds numbers.")
    if wish.kind == "pie" and (min(known) < 0 or not any(known)):
        raise _no_values("A pie shows shares, which can't be negative and not all zero.", "Draw bars.")


def _no_values(message: str, fix: str) -> CodedError:
    return CodedError(code="CHART_VALUES", field="y", message=message, fix=fix)


def _numbers(cells: Sequence[Any]) -> tuple[float | None, ...]:
    return tuple(None if cell is None else float(cell) for cell in cells)
