"""Tables of comma-separated values as text: every row on its own line, every value beside its column's name."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice

DELIMITERS = ",;\t|"
MAX_CELL = 2000


def table_to_text(text: str, delimiter: str = "") -> str:
    """Line n of the result is row n of the table, so that a single row can be found and quoted by itself.

    Without a `delimiter` it is the one that cuts the first rows most evenly. What is no table stays as it is.
    """
    delimiter = delimiter or find_delimiter(text)
    if not delimiter:
        return text
    try:
        rows = list(csv.reader(StringIO(text), delimiter=delimiter))
    except csv.Error:
        return text
    while rows and not any(cell.strip() for cell in rows[-1]):
        rows.pop()
    if len(rows) < 2 or len(rows[0]) < 2:
        return text
    return "\n".join(rows_to_lines(rows))


def rows_to_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The first row names the columns of all others; each row becomes one line."""
    each = iter(rows)
    yield from _lines([_plain(cell) for cell in next(each, ())], each)


def find_delimiter(text: str) -> str:
    """The delimiter by which the first rows have the same number of cells, at least two; empty if there is none."""
    best, cells = "", 1
    for delimiter in DELIMITERS:
        try:
            rows = list(islice(csv.reader(StringIO(text), delimiter=delimiter), 20))
        except csv.Error:
            continue
        widths = {len(row) for row in rows if any(cell.strip() for cell in row)}
        if len(widths) == 1 and (width := widths.pop()) > cells:
            best, cells = delimiter, width
    return best


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    yield "; ".join(head)
    for row in rows:
        names = [*head, *(f"#{place}" for place in range(len(head) + 1, len(row) + 1))]
        pairs = zip(names, row, strict=False)
        cells = [f"{name}: {value}".removeprefix(": ") for name, cell in pairs if (value := _plain(cell))]
        yield "- " + "; ".join(cells) if cells else ""


def _plain(cell: str) -> str:
    return " ".join(cell[:MAX_CELL].split())
