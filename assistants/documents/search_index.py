"""The full-text index of passages, in the database beside them: one seam for each kind of database."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from django.db import connection as default_connection
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from assistants.errors import CodedError

from .postgres_index import PostgresIndex
from .ranked import MOST_COUNTED, Entry, Ranked
from .words import Term


class Index(Protocol):
    """What a database has to offer. `candidates` is how many passages are worth a second look."""

    candidates: int

    def install(self, connection: BaseDatabaseWrapper) -> None: ...

    def add(self, root_id: int, entries: Iterable[Entry]) -> None: ...

    def find(self, root_ids: Sequence[int], terms: Sequence[Term], *, limit: int) -> Ranked: ...


def index_of(connection: BaseDatabaseWrapper = default_connection) -> Index:
    """The index of this kind of database."""
    kinds: dict[str, type[Index]] = {"sqlite": SqliteIndex, "postgresql": PostgresIndex}
    return kinds.get(connection.vendor, NoIndex)()


class SqliteIndex:
    """FTS5. Rows are added beside their passages and vanish with them by a trigger, whoever deletes them."""

    candidates = 60

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Makes what is missing: an altered table is built anew by SQLite, and loses its trigger."""
        with connection.cursor() as cursor:
            for statement in SETUP:
                cursor.execute(statement)

    def add(self, root_id: int, entries: Iterable[Entry]) -> None:
        """Indexes passages, by their ids. The words come folded, so that `Straße` and STRASSE are one."""
        root = f"r{root_id}"
        rows = [(passage, root, each.title, each.heading, each.body, each.parts) for passage, each in entries]
        with default_connection.cursor() as cursor:
            cursor.executemany(ADD, rows)

    def find(self, root_ids: Sequence[int], terms: Sequence[Term], *, limit: int) -> Ranked:
        """Any of the words, in these roots only; that is decided in the index itself (S10)."""
        if not root_ids or not terms:
            return Ranked(0, {})
        match = _match(root_ids, terms)
        with default_connection.cursor() as cursor:
            cursor.execute(COUNT, [match, MOST_COUNTED])
            total = cursor.fetchone()[0]
            cursor.execute(FIND, [match, limit])
            return Ranked(total, {passage: -rank for passage, rank in cursor.fetchall()})


class NoIndex:
    """A database for which there is no index yet: everything but searching works."""

    candidates = 0

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """There is nothing to make."""

    def add(self, root_id: int, entries: Iterable[Entry]) -> None:
        """There is nowhere to add to."""

    def find(self, root_ids: Sequence[int], terms: Sequence[Term], *, limit: int) -> Ranked:
        """Raises `SEARCH_UNAVAILABLE`."""
        raise CodedError(
            code="SEARCH_UNAVAILABLE",
            message="Documents can't be searched on this database.",
            fix="Read a document by its name.",
            correctable=False,
        )


def keep_in_step(using: str = "default", **kwargs: Any) -> None:
    """After every migrate: puts back what an altered table lost."""
    if "assistants_passage" in connections[using].introspection.table_names():
        index_of(connections[using]).install(connections[using])


def _match(root_ids: Sequence[int], terms: Sequence[Term]) -> str:
    """FTS5's own language; every word is quoted, and no word holds a quote."""
    roots = " OR ".join(f'"r{root_id}"' for root_id in root_ids)
    words = " OR ".join(f'"{form}"' for form in dict.fromkeys(form for term in terms for form in term.forms))
    parts = " OR ".join(f'"{term.stem}" *' for term in terms if term.may_be_part)
    anywhere = f"({{title heading body}} : ({words}))" + (f" OR ({{parts}} : ({parts}))" if parts else "")
    return f"({{root}} : ({roots})) AND ({anywhere})"


SETUP = (
    """CREATE VIRTUAL TABLE IF NOT EXISTS assistants_passagetext
       USING fts5(root, title, heading, body, parts, tokenize = "unicode61 remove_diacritics 2")""",
    """CREATE TRIGGER IF NOT EXISTS passage_gone AFTER DELETE ON assistants_passage
       BEGIN DELETE FROM assistants_passagetext WHERE rowid = OLD.id; END""",
    "DELETE FROM assistants_passagetext WHERE rowid NOT IN (SELECT id FROM assistants_passage)",
)
ADD = """INSERT OR REPLACE INTO assistants_passagetext (rowid, root, title, heading, body, parts)
    VALUES (%s, %s, %s, %s, %s, %s)"""
COUNT = "SELECT count(*) FROM (SELECT 1 FROM assistants_passagetext WHERE assistants_passagetext MATCH %s LIMIT %s)"
# The weights of the columns, in their order: the root says only where to look.
FIND = """SELECT rowid, bm25(assistants_passagetext, 0.0, 2.0, 1.0, 1.0, 0.1) AS score
    FROM assistants_passagetext WHERE assistants_passagetext MATCH %s ORDER BY score LIMIT %s"""
