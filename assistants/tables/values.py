"""What a table may hold: typed columns, and cells that are exactly what was given."""

import json
import math
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from assistants.errors import CodedError

MAX_BYTES = 256 * 1024
MAX_TEXT_CHARS = 8000
MAX_DIGITS = 34
LARGEST = int("9" * MAX_DIGITS)
SHOWN_CHARS = 80
NUMERAL = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}(?:\.[0-9]{{1,{MAX_DIGITS}}})?")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MEANT = {
    "text": f"a text of at most {MAX_TEXT_CHARS} characters",
    "number": f"a number of at most {MAX_DIGITS} digits, without a unit and with a point before decimals",
    "date": "a day such as 2026-11-30",
    "bool": "true or false",
}

Cell = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]})
]


class Column(BaseModel):
    """One column. Days are written YYYY-MM-DD; a number with more than 15 digits is written as a string of digits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=80)]
    type: Literal["text", "number", "date", "bool"]


def check_table(columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> None:
    """Refuses what is no table (section 6). A cell may be null, whatever its column's type: nothing is known there.

    Raises `TABLE_COLUMNS` (a name that is blank or stands twice, whatever its case), `TABLE_RAGGED`, `TABLE_CELL` (names
    row and column, both counted from 1) and `TABLE_TOO_LARGE` (above 256 KiB as JSON).
    """
    _check_names(columns)
    for number, row in enumerate(rows, 1):
        _check_row(columns, row, number)
    size = len(json.dumps([[column.model_dump() for column in columns], rows], ensure_ascii=False).encode())
    if size > MAX_BYTES:
        raise CodedError(
            code="TABLE_TOO_LARGE",
            field="rows",
            message=f"The table takes {size // 1024 + 1} KiB; at most {MAX_BYTES // 1024} KiB are kept.",
            fix="Leave out what nobody needs, or keep it as several tables.",
        )


def as_decimal(value: Any) -> Decimal:
    """A number cell's exact value, whichever way it was given."""
    return Decimal(repr(value) if isinstance(value, float) else value)


def as_text(value: Any) -> str:
    """A cell as it was given; nothing for null, `true` and `false` for a truth."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def shortened(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The rows with long texts cut, for a model that only has to see what it kept."""
    return [[_shortened(cell) for cell in row] for row in rows]


def _shortened(cell: Any) -> Any:
    return cell[:SHOWN_CHARS] + " …" if isinstance(cell, str) and len(cell) > SHOWN_CHARS else cell


def _check_names(columns: Sequence[Column]) -> None:
    seen: set[str] = set()
    for place, column in enumerate(columns):
        name = column.name.strip().casefold()
        if not name or name in seen:
            raise CodedError(
                code="TABLE_COLUMNS",
                field=f"columns.{place}.name",
                message=f"The column name “{column.name}” stands twice." if name else "A column has a blank name.",
                fix="Give every column a name of its own.",
            )
        seen.add(name)


def _check_row(columns: Sequence[Column], row: Sequence[Any], number: int) -> None:
    if len(row) != len(columns):
        raise CodedError(
            code="TABLE_RAGGED",
            field=f"rows.{number - 1}",
            message=f"Row {number} has {len(row)} cells, but there are {len(columns)} columns.",
            fix="Give every row one cell for each column; null where nothing is known.",
        )
    for place, (column, cell) in enumerate(zip(columns, row, strict=True)):
        if cell is not None and not FITS[column.type](cell):
            raise CodedError(
                code="TABLE_CELL",
                field=f"rows.{number - 1}.{place}",
                message=f"Row {number}, column “{column.name}” ({column.type}): “{_quoted(cell)}” is not {MEANT[column.type]}.",
                fix="Correct the cell, use null where nothing is known, or change the column's type.",
            )


def _quoted(cell: Any) -> str:
    return str(cell)[:SHOWN_CHARS]


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str) and len(cell) <= MAX_TEXT_CHARS


def _is_number(cell: Any) -> bool:
    """As a JSON number, or as a string where a JSON number would lose digits on its way."""
    match cell:
        case bool():
            return False
        case int():
            return abs(cell) <= LARGEST
        case float():
            return math.isfinite(cell) and (cell == 0 or 10.0**-MAX_DIGITS <= abs(cell) < 10.0**MAX_DIGITS)
        case str():
            return NUMERAL.fullmatch(cell) is not None
    return False


def _is_date(cell: Any) -> bool:
    if not isinstance(cell, str) or not DAY.fullmatch(cell):
        return False
    try:
        date.fromisoformat(cell)
    except ValueError:
        return False
    return True


def _is_bool(cell: Any) -> bool:
    return isinstance(cell, bool)


FITS = {"text": _is_text, "number": _is_number, "date": _is_date, "bool": _is_bool}
