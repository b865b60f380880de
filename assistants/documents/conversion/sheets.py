"""Spreadsheets, sheet by sheet, every row with the names of its columns."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import chain
from zipfile import is_zipfile

import python_calamine

from ..table_text import rows_to_lines
from .archive import open_archive
from .converted import Converted, Room, Section, Unreadable

MOST_CELLS = 3_000_000
Cell = int | float | str | bool | time | date | datetime | timedelta


def read_sheets(data: bytes) -> Converted:
    """Every sheet that is not empty, hidden ones too. Raises Unreadable."""
    if is_zipfile(BytesIO(data)):
        open_archive(data).close()
    try:
        book = python_calamine.load_workbook(BytesIO(data))
        names = list(book.sheet_names)
    except python_calamine.PasswordError:
        raise Unreadable("protected by a password") from None
    except (python_calamine.CalamineError, OSError, ValueError):
        raise Unreadable("not a spreadsheet, or damaged") from None
    room = Room()
    sections, damaged = [], []
    for name in names:
        try:
            text = _text(book.get_sheet_by_name(name), room)
        except (python_calamine.CalamineError, OSError, ValueError):
            damaged.append(name)
            continue
        if text:
            sections.append(Section(f"sheet {name}", text))
    if not sections:
        raise Unreadable("holds no values" if not damaged else "damaged")
    notes = ["the rest was not read: it is too long"] if room.left <= 0 else []
    notes += [f"damaged: sheet {name}" for name in damaged]
    return Converted(tuple(sections), note="; ".join(notes))


def _text(sheet: python_calamine.CalamineSheet, room: Room) -> str:
    """The rows from the first that has values; the columns are named by it."""
    lines: list[str] = []
    if sheet.height * sheet.width > MOST_CELLS and sheet.width > 1000:
        raise ValueError("a single far cell makes it as wide as this")
    rows: Iterator[list[Cell]] = iter(sheet.iter_rows())
    first = next((row for row in rows if any(value != "" for value in row)), None)
    if first is None:
        return ""
    for line in rows_to_lines(_plain(row) for row in chain([first], rows)):
        lines.append(room.take(line + "\n"))
        if room.left <= 0:
            break
    return "".join(lines).rstrip("\n")


def _plain(row: Iterable[Cell]) -> list[str]:
    return [_as_text(value) for value in row]


def _as_text(value: Cell) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if (value.hour, value.minute, value.second) == (0, 0, 0) else value.isoformat(" ")
    return str(value)
