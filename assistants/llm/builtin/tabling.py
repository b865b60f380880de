"""A table out of a document: read, kept behind a pointer, drawn or offered as a file when that was asked for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .phrases import phrase
from .refusals import reason_of
from .steps import Answer, Call, Miss, Need, Step
from .talk import Talk
from .wish import Wish
from .words import fold

MOST_ROWS = 500
_CHART = re.compile(r"\b(charts?|diagrams?|plots?|graphs?|draw|diagramm\w*|grafik\w*|zeichn\w*)\b", re.IGNORECASE)
_FILE = re.compile(r"\b(csv|xlsx|excel|json|spreadsheet|exports?|exportier\w*|download|tabellenkalkulation)\b", re.IGNORECASE)
_TABLE = re.compile(r"\b(tables?|tabellen?|tabellarisch)\b", re.IGNORECASE)
_COURSE = re.compile(r"\b(week|month|day|date|year|quarter|kw|woche|monat|tag|datum|jahr|quartal)\b", re.IGNORECASE)
# What begins with zeros is a name made of digits.
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def wants_table(text: str, talk: Talk) -> bool:
    """Whether a table, a chart or a file is asked for, and can be made here."""
    able = {"cache_assembled_table", "search_documents", "read_document"} <= set(talk.offers.tools)
    return able and any(pattern.search(text) for pattern in (_CHART, _FILE, _TABLE))


@dataclass(frozen=True)
class Sheet:
    """Rows of a document with their columns: (name, type) each."""

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]

    def cells(self) -> list[list[Any]]:
        """The rows as the tool takes them: numbers with all the digits that stand in the document, also a last 0."""
        numbers = [kind == "number" for _, kind in self.columns]
        return [
            [
                int(cell) if number and cell.lstrip("-").isdecimal() else cell or None
                for number, cell in zip(numbers, row, strict=True)
            ]
            for row in self.rows
        ]


@dataclass(frozen=True)
class Tabling:
    """One wish for numbers as a table; the rows that its words name, or all of them."""

    wish: Wish
    text: str

    def advance(self, talk: Talk) -> Step:
        query = talk.offers.fit("search_documents", query=self._subject(), limit=15) or {}
        found = talk.result_of("search_documents", query)
        if found is None:
            return Need((Call("search_documents", query),))
        names = [str(each.get("document", "")) for each in found.data.get("results", ()) if isinstance(each, dict)]
        document = next((name for name in names if name.lower().endswith((".csv", ".tsv"))), "")
        if not document:
            return Miss(phrase(talk.language, "no_table"), established="")
        reading = talk.offers.fit("read_document", document=document, start=1, lines=2000) or {}
        read = talk.result_of("read_document", reading)
        if read is None:
            return Need((Call("read_document", reading),))
        sheet = read_sheet(str(read.data.get("text") or ""), document, [word.text for word in self.wish.words])
        return self._keep(sheet, document, talk) if sheet else Miss(phrase(talk.language, "no_table"), established="")

    def _subject(self) -> str:
        """What the numbers are about, without the words for how they are to be shown."""
        words = [
            word.text for word in self.wish.searched if not any(form.fullmatch(word.text) for form in (_CHART, _FILE, _TABLE))
        ]
        return " ".join(words) or self.text

    def _keep(self, sheet: Sheet, document: str, talk: Talk) -> Step:
        arguments = talk.offers.fit(
            "cache_assembled_table",
            title=sheet.title,
            columns=[{"name": name, "type": kind} for name, kind in sheet.columns],
            rows=sheet.cells(),
            sources=["read_document"],
        )
        kept = talk.result_of("cache_assembled_table", arguments) if arguments else None
        if arguments and kept is None:
            return Need((Call("cache_assembled_table", arguments),))
        pointer = str(kept.data.get("pointer", "")) if kept else ""
        if not pointer:
            reason = reason_of(kept, talk.language) if kept else ""
            return Miss(phrase(talk.language, "refused", reason=reason or document), established="")
        calls = tuple(call for call in self._shown(sheet, pointer, talk) if talk.result_of(call.tool, call.arguments) is None)
        if calls:
            return Need(calls)
        return Answer(phrase(talk.language, "table_kept", title=sheet.title, document=document, rows=len(sheet.rows)))

    def _shown(self, sheet: Sheet, pointer: str, talk: Talk) -> list[Call]:
        """The chart and the file, as far as they were asked for."""
        calls = []
        measures = [name for name, kind in sheet.columns if kind == "number" and not _COURSE.search(name)]
        along = [name for name, kind in sheet.columns if _COURSE.search(name)] or [
            name for name, kind in sheet.columns if kind != "number"
        ]
        if _CHART.search(self.text) and measures and along:
            kind = "line" if _COURSE.search(along[0]) and len(sheet.rows) > 1 else "bar"
            drawn = talk.offers.fit("make_chart", pointer=pointer, kind=kind, x=along[0], y=measures[:4])
            calls += [Call("make_chart", drawn)] if drawn else []
        if wanted := _FILE.search(self.text):
            named = {"csv": "csv", "json": "json"}.get(wanted[1].lower(), "xlsx")
            offered = talk.offers.fit("export_table", pointer=pointer, format=named)
            calls += [Call("export_table", offered)] if offered else []
        return calls


def read_sheet(text: str, document: str, words: Sequence[str]) -> Sheet | None:
    """The rows of a table as documents show it: the columns' names first, then on each line every value beside its name.

    Those that one of the words names, if some but not all are.
    """
    first, *lines = [line for line in text.splitlines() if line.strip()] or [""]
    head = first.split("; ")
    rows = [row for line in lines if (row := _row(line, head))]
    if len(head) < 2 or not rows or len(set(head)) != len(head):
        return None
    wanted = {fold(word) for word in words}
    named = [row for row in rows if wanted & {part for cell in row for part in fold(cell).split()}]
    rows = (named if 0 < len(named) < len(rows) else rows)[:MOST_ROWS]
    kinds = [_kind([row[place] for row in rows]) for place in range(len(head))]
    title = re.sub(r"[-_]+", " ", document.rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip().capitalize()
    return Sheet(title, tuple(zip(head, kinds, strict=True)), tuple(rows))


def _row(line: str, head: Sequence[str]) -> tuple[str, ...]:
    """The cells of one line in the order of the columns, an empty text where there is none."""
    if not line.startswith("- "):
        return ()
    names = "|".join(re.escape(name) for name in sorted(head, key=len, reverse=True))
    cells = re.split(rf"(?:^|; )({names}): ", line[2:])
    found = dict(zip(cells[1::2], cells[2::2], strict=False))
    return tuple(found.get(name, "") for name in head)


def _kind(cells: Sequence[str]) -> str:
    filled = [cell for cell in cells if cell]
    for name, pattern in (("number", _NUMBER), ("date", _DATE)):
        if filled and all(pattern.fullmatch(cell) for cell in filled):
            return name
    return "text"
