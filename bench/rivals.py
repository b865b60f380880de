"""Other engines over the same passages, those of them that are installed: plain SQLite FTS5, bm25s and Tantivy."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

TOP = 10
Search = Callable[[str], Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Indexed:
    """A passage as every engine is given it."""

    path: str
    text: str
    heading: str
    title: str

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.heading}\n{self.text}"


def rivals(passages: Sequence[Indexed]) -> dict[str, Search]:
    """Each engine by name, with its own stemming for English and whatever it does by default."""
    found = {"fts5 porter": _fts5(passages)}
    for name, make in (("bm25s", _bm25s), ("tantivy", _tantivy)):
        try:
            found[name] = make(passages)
        except ImportError:
            print(f"{name} is not installed: left out", flush=True)
    return found


def _fts5(passages: Sequence[Indexed]) -> Search:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE passages USING fts5(title, heading, body, tokenize = 'porter unicode61')")
    rows = [(number, each.title, each.heading, each.text) for number, each in enumerate(passages, 1)]
    database.executemany("INSERT INTO passages (rowid, title, heading, body) VALUES (?, ?, ?, ?)", rows)

    def search(query: str) -> list[list[str]]:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        found = database.execute("SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?", [match, TOP])
        return [[passages[number - 1].text] for (number,) in found]

    return search


def _bm25s(passages: Sequence[Indexed]) -> Search:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    engine = bm25s.BM25()
    engine.index(
        bm25s.tokenize([each.whole for each in passages], stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )

    def search(query: str) -> list[list[str]]:
        words = bm25s.tokenize([query], stopwords="en", stemmer=stemmer, show_progress=False)
        numbers, _ = engine.retrieve(words, k=TOP, show_progress=False)
        return [[passages[int(number)].text] for number in numbers[0]]

    return search


def _tantivy(passages: Sequence[Indexed]) -> Search:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", stored=True)
    builder.add_text_field("whole", tokenizer_name="en_stem")
    engine = tantivy.Index(builder.build())
    writer = engine.writer()
    for number, each in enumerate(passages):
        writer.add_document(tantivy.Document(number=number, whole=each.whole))
    writer.commit()
    engine.reload()

    def search(query: str) -> list[list[str]]:
        parsed = engine.parse_query(" ".join(re.findall(r"\w+", query.lower())), ["whole"])
        searcher = engine.searcher()
        numbers = [searcher.doc(address)["number"][0] for _, address in searcher.search(parsed, TOP).hits]
        return [[passages[number].text] for number in numbers]

    return search
