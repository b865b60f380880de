"""What goes out as a file comes back cell by cell, and no cell becomes a formula, a link or another value."""

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistants.models import StoredTable
from assistants.tables.exports import export_table
from assistants.tables.values import Column, check_table
from tests.tables.spreadsheet import read_xlsx

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMERALS = st.from_regex(r"\A-?[0-9]{1,34}(\.[0-9]{1,20})?\Z")
FLOATS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e30, max_value=1e30)
NUMBERS = st.integers(-(10**34) + 1, 10**34 - 1) | FLOATS.filter(lambda each: each == 0 or abs(each) > 1e-30) | NUMERALS
CELLS = {"text": TEXTS, "number": NUMBERS, "date": st.dates().map(date.isoformat), "bool": st.booleans()}
HOSTILE = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", '=HYPERLINK("http://x")', "＝1+1", "-", "--5"]


def table(columns: list[tuple[str, str]], rows: list[list[object]], title: str = "Returns") -> StoredTable:
    named = [{"name": name, "type": kind} for name, kind in columns]
    check_table([Column(**each) for each in named], rows)
    return StoredTable(title=title, pointer="tbl_0123456789ab", columns=named, rows=rows, sources=[], created=datetime.now(UTC))


@st.composite
def tables(draw: st.DrawFn) -> StoredTable:
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    columns = [(f"{draw(TEXTS)}{number}", kind) for number, kind in enumerate(kinds)]
    row = st.tuples(*(st.none() | CELLS[kind] for kind in kinds)).map(list)
    return table(columns, draw(st.lists(row, min_size=1, max_size=5)))


def read_csv(made: StoredTable) -> list[list[str]]:
    text = export_table(made, "csv").content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def written(cell: object) -> str:
    return "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


def as_given(text: str) -> str:
    return text[1:] if text.startswith("'") else text


@given(tables())
@settings(max_examples=150, deadline=None)
def test_a_csv_file_holds_every_cell_as_it_was_given(made):
    head, *rows = read_csv(made)

    assert [as_given(name) for name in head] == [as_given(column["name"]) for column in made.columns]
    for read, row in zip(rows, made.rows, strict=True):
        for text, cell, column in zip(read, row, made.columns, strict=True):
            assert as_given(text) == as_given(written(cell))
            if column["type"] == "number" and cell is not None:
                assert Decimal(text) == Decimal(str(cell))


@given(tables())
@settings(max_examples=100, deadline=None)
def test_a_json_file_holds_types_and_every_digit(made):
    read = json.loads(export_table(made, "json").content, parse_float=Decimal, parse_int=Decimal)

    assert read["columns"] == made.columns and read["title"] == made.title
    for got, row in zip(read["rows"], made.rows, strict=True):
        for value, cell, column in zip(got, row, made.columns, strict=True):
            wanted = Decimal(str(cell)) if column["type"] == "number" and cell is not None else cell
            assert value == wanted and (value is None) == (cell is None)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_a_spreadsheet_holds_numbers_days_truths_and_texts_as_what_they_are(made):
    _, *rows = read_xlsx(export_table(made, "xlsx").content)

    rows += [[]] * (len(made.rows) - len(rows))
    for read, row in zip(rows, made.rows, strict=True):
        for value, cell, column in zip([*read, *[None] * (len(row) - len(read))], row, made.columns, strict=True):
            match column["type"]:
                case _ if cell is None or cell == "":
                    assert value in (None, "")
                case "number" if isinstance(value, float):
                    assert Decimal(repr(value)) == Decimal(str(cell))
                case "date" if isinstance(value, date):
                    assert value.isoformat() == cell
                case _:
                    assert value == (cell if isinstance(cell, bool) else str(cell))


@pytest.mark.parametrize("text", HOSTILE)
def test_s39_no_text_becomes_a_formula(text):
    made = table([("Note", "text"), (f"{text} ", "text")], [[text, "fine"]])

    head, row = read_csv(made)

    assert row == [f"'{text}", "fine"] and head[1] == f"'{text} "
    assert read_xlsx(export_table(made, "xlsx").content)[1][0] == text


PLAIN = [
    ("number", -5, "-5"),
    ("number", "-5.50", "-5.50"),
    ("text", "-5", "-5"),
    ("text", "-0.5", "-0.5"),
    ("text", "a=b", "a=b"),
    ("text", "'=1", "'=1"),
]


@pytest.mark.parametrize(("kind", "cell", "text"), PLAIN)
def test_a_plain_negative_number_stays_one_in_a_csv_file(kind, cell, text):
    assert read_csv(table([("Value", kind)], [[cell]]))[1] == [text]


def test_a_csv_file_is_read_as_utf_8_by_a_spreadsheet_and_has_rows_as_rfc_4180_ends_them():
    content = export_table(table([("Straße", "text")], [['says "hi", twice'], ["two\nlines"], [None]]), "csv").content

    assert content == '\ufeffStraße\r\n"says ""hi"", twice"\r\n"two\nlines"\r\n""\r\n'.encode()


@pytest.mark.parametrize("cell", [2**53 + 1, "12345678901234567.89", "0.1234567890123456"])
def test_a_number_that_a_spreadsheet_would_round_is_written_as_text(cell):
    assert read_xlsx(export_table(table([("Value", "number")], [[cell]]), "xlsx").content)[1] == [str(cell)]


@pytest.mark.parametrize(("cell", "read"), [("2026-11-30", date(2026, 11, 30)), ("1900-01-01", date(1900, 1, 1)),
                                            ("1900-03-01", date(1900, 3, 1)), ("1899-12-31", "1899-12-31")])  # fmt: skip
def test_a_day_is_a_day_in_a_spreadsheet_if_it_can_hold_it(cell, read):
    assert read_xlsx(export_table(table([("Day", "date")], [[cell]]), "xlsx").content)[1] == [read]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Returns by week", "Returns by week.csv"),
        ("Rückläufer 46/47", "Rückläufer 46-47.csv"),
        ("../../etc/passwd", "etc-passwd.csv"),
        ('a"b\r\nSet-Cookie: x', "a-b--Set-Cookie- x.csv"),
        ("\u202egpj.exe", "gpj.exe.csv"),
        ("CON", "table-CON.csv"),
        ("nul.txt", "table-nul.txt.csv"),
        ("...", "tbl_0123456789ab.csv"),
        ("🐒", "tbl_0123456789ab.csv"),
        ("x" * 200, "x" * 60 + ".csv"),
    ],
)
def test_a_file_is_named_after_the_title_and_its_name_is_harmless(title, name):
    assert export_table(table([("a", "text")], [["b"]], title=title), "csv").name == name
