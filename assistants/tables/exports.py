"""Gives a kept table out as a file: CSV for spreadsheets and programs, XLSX, and JSON with types."""

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from assistants.models import StoredTable

from .pointers import columns_of
from .values import NUMERAL, Column, as_decimal, as_text

# What a spreadsheet takes for the beginning of a formula, also in the wide forms of East Asian keyboards.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
NAME_CHARS = 60
# The first day that a spreadsheet can hold as a date.
FIRST_DAY = date(1900, 1, 1)


@dataclass(frozen=True)
class Export:
    """A file: its name with ending, its media type, its bytes."""

    name: str
    media_type: str
    content: bytes


def export_table(table: StoredTable, kind: str) -> Export:
    """The whole table as `csv`, `xlsx` or `json`. Raises KeyError for any other kind."""
    media_type, write = KINDS[kind]
    return Export(f"{_file_name(table)}.{kind}", media_type, write(table))


def _as_csv(table: StoredTable) -> bytes:
    """As RFC 4180 has it, with the mark that spreadsheets need to read it as UTF-8."""
    columns, out = columns_of(table), io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_harmless(column.name) for column in columns])
    for row in table.rows:
        writer.writerow([_csv_cell(column, cell) for column, cell in zip(columns, row, strict=True)])
    return out.getvalue().encode("utf-8-sig")


def _csv_cell(column: Column, cell: Any) -> str:
    return _harmless(as_text(cell)) if column.type == "text" else as_text(cell)


def _harmless(text: str) -> str:
    """A text that a spreadsheet would take for a formula gets an apostrophe; a plain negative number is none."""
    if not text.lstrip(" \u00a0").startswith(FORMULA_SIGNS) or NUMERAL.fullmatch(text):
        return text
    return f"'{text}"


def _as_json(table: StoredTable) -> bytes:
    """Numbers with every digit that was given, also those that were given as a string."""
    columns = columns_of(table)
    rows = [[_json_cell(column, cell) for column, cell in zip(columns, row, strict=True)] for row in table.rows]
    head = {
        "pointer": table.pointer,
        "title": table.title,
        "created": table.created.isoformat(timespec="seconds"),
        "sources": table.sources,
        "columns": table.columns,
    }
    written = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
    lines = ",\n  ".join(f"[{', '.join(row)}]" for row in rows)
    return f'{written},\n "rows": [\n  {lines}\n ]\n}}\n'.encode()


def _json_cell(column: Column, cell: Any) -> str:
    if column.type == "number" and isinstance(cell, str):
        sign, digits = ("-", cell[1:]) if cell.startswith("-") else ("", cell)
        whole, point, rest = digits.partition(".")
        return f"{sign}{whole.lstrip('0') or '0'}{point}{rest}"
    return json.dumps(cell, ensure_ascii=False)


def _as_xlsx(table: StoredTable) -> bytes:
    """Numbers as numbers, days as days, texts as texts whatever they begin with; no link and no formula is made."""
    import xlsxwriter  # only when it is needed: it takes as long as a page

    columns, out = columns_of(table), io.BytesIO()
    book = xlsxwriter.Workbook(
        out,
        {
            "in_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        },
    )
    book.set_properties({"title": table.title, "comments": table.pointer, "created": table.created.replace(tzinfo=None)})
    sheet = book.add_worksheet()
    bold, day = book.add_format({"bold": True}), book.add_format({"num_format": "yyyy-mm-dd"})
    for place, column in enumerate(columns):
        sheet.write_string(0, place, column.name, bold)
        sheet.set_column(place, place, _width(table.rows, place, column))
        for line, row in enumerate(table.rows, 1):
            _write_cell(sheet, (line, place), column, row[place], day)
    sheet.freeze_panes(1, 0)
    book.close()
    return out.getvalue()


def _write_cell(sheet: Any, at: tuple[int, int], column: Column, cell: Any, day: Any) -> None:
    if cell is None:
        return
    if column.type == "bool":
        sheet.write_boolean(*at, cell)
    elif column.type == "number" and _survives(cell):
        sheet.write_number(*at, float(cell))
    elif column.type == "date" and date.fromisoformat(cell) >= FIRST_DAY:
        sheet.write_datetime(*at, date.fromisoformat(cell), day)
    else:
        sheet.write_string(*at, as_text(cell))


def _survives(cell: Any) -> bool:
    """A spreadsheet keeps 15 digits of a number; one that has more is written as text, digit by digit."""
    digits = "".join(map(str, as_decimal(cell).as_tuple().digits))
    return len(digits.strip("0")) <= 15


def _width(rows: Sequence[Sequence[Any]], place: int, column: Column) -> int:
    longest = max(len(column.name), *(len(as_text(row[place])) for row in rows))
    return min(longest + 2, 60)


def _file_name(table: StoredTable) -> str:
    """The title without what a file's name must not hold; the pointer where nothing is left of it."""
    kept = (each if each.isalnum() or each in " ._-" else "-" for each in unicodedata.normalize("NFC", table.title))
    name = "".join(kept)[:NAME_CHARS].strip(" .-_")
    return f"table-{name}" if name.casefold().partition(".")[0] in RESERVED else name or table.pointer


KINDS: dict[str, tuple[str, Callable[[StoredTable], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", _as_csv),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _as_xlsx),
    "json": ("application/json", _as_json),
}
