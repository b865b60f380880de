"""Reads a spreadsheet file back with nothing but the standard library."""

import io
import re
import zipfile
from datetime import date, timedelta
from typing import Any
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")


def read_xlsx(content: bytes) -> list[list[Any]]:
    """The cells of the only sheet, row by row: texts, floats, truths, days; None where a cell is empty."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        names = set(book.namelist())
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
        shared = ElementTree.fromstring(book.read("xl/sharedStrings.xml")) if "xl/sharedStrings.xml" in names else []
        formats = _date_formats(ElementTree.fromstring(book.read("xl/styles.xml")))
    texts = ["".join(part.text or "" for part in each.iter(f"{MAIN}t")) for each in shared]
    assert sheet.find(f".//{MAIN}f") is None and sheet.find(f".//{MAIN}hyperlink") is None
    width = max((_column(cell.get("r")) for cell in sheet.iter(f"{MAIN}c")), default=-1) + 1
    rows: list[list[Any]] = []
    for row in sheet.iter(f"{MAIN}row"):
        # A row without a cell is left out.
        rows += [[None] * width for _ in range(len(rows) + 1, int(row.get("r", "1")))]
        cells: list[Any] = [None] * width
        for cell in row.iter(f"{MAIN}c"):
            cells[_column(cell.get("r"))] = _value(cell, texts, formats)
        rows.append(cells)
    return rows


def _value(cell: ElementTree.Element, texts: list[str], formats: set[int]) -> Any:
    text = cell.findtext(f"{MAIN}v")
    if text is None:
        return None
    match cell.get("t"):
        case "s":
            return ESCAPED.sub(lambda found: chr(int(found[1], 16)), texts[int(text)])
        case "b":
            return text == "1"
    if int(cell.get("s", "0")) in formats:
        days = int(text)
        # The format knows a 29 February 1900, which there was not.
        return date(1899, 12, 31) + timedelta(days=days - (days > 59))
    return float(text)


def _date_formats(styles: ElementTree.Element) -> set[int]:
    custom = {each.get("numFmtId") for each in styles.iter(f"{MAIN}numFmt") if "yy" in (each.get("formatCode") or "")}
    formats = styles.find(f"{MAIN}cellXfs")
    assert formats is not None
    return {number for number, each in enumerate(formats) if each.get("numFmtId") in custom}


def _column(reference: str | None) -> int:
    number = 0
    for letter in re.match("[A-Z]+", reference or "A")[0]:  # type: ignore[index]
        number = number * 26 + ord(letter) - 64
    return number - 1
