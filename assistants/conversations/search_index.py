"""The full-text index over titles and messages, which the database itself keeps in step (Z4)."""

from typing import Any, Protocol
from uuid import UUID

from django.db import connection as default_connection
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet

from assistants.models import Message, Thread

from .search_hits import CLOSES, MAX_HITS, OPENS, SEARCHED_ROLES, Hit, marked, plain, words_of
from .search_postgres import PostgresIndex
from .search_triggers import mend_triggers

__all__ = ["CLOSES", "OPENS", "Hit", "Index", "Scan", "index_of", "keep_in_step", "words_of"]


class Index(Protocol):
    """What a database has to offer for searching."""

    def install(self, connection: BaseDatabaseWrapper) -> None: ...

    def find(self, words: list[str], threads: QuerySet[Thread]) -> list[Hit]: ...


def index_of(connection: BaseDatabaseWrapper = default_connection) -> Index:
    """The index of this kind of database, else a scan that is right everywhere and slow."""
    kinds: dict[str, type[Index]] = {"sqlite": SqliteIndex, "postgresql": PostgresIndex}
    return kinds.get(connection.vendor, Scan)()


class SqliteIndex:
    """FTS5, written by triggers: whoever changes a message or a title, by whatever query, changes the index with it."""

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Makes what is missing. Does nothing where all is there.

        A migration that alters a table makes SQLite build it anew, and the triggers are lost with the old one; so
        this runs after every migrate, and when it had to mend something it indexes everything again.
        """
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            for statement in TABLES:
                cursor.execute(statement)
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            mend_triggers(cursor, TRIGGERS, known=[name for (name,) in cursor.fetchall()], fill=FILL)

    def find(self, words: list[str], threads: QuerySet[Thread]) -> list[Hit]:
        """Titles first, then the newest messages; only in these threads, decided in the same query (S10)."""
        match = " ".join(f'"{word}"' for word in words) + "*"
        allowed, params = threads.order_by().values("pk").query.sql_with_params()
        with default_connection.cursor() as cursor:
            cursor.execute(FIND.format(threads=allowed), [match, *params, MAX_HITS])
            found = {row: (thread, message) for row, thread, message in cursor.fetchall()}
            marks = ", ".join("%s" for _ in found)
            # An excerpt is costly, so only what is shown gets one; it needs the same MATCH.
            cursor.execute(EXCERPTS.format(rows=marks), [OPENS, CLOSES, match, *found])
            excerpts = dict(cursor.fetchall())
        return [
            Hit(thread, UUID(message) if message else None, excerpts.get(row, "")) for row, (thread, message) in found.items()
        ]


class Scan:
    """Looks through the newest messages one by one."""

    LIMIT = 2000

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """There is nothing to make."""

    def find(self, words: list[str], threads: QuerySet[Thread]) -> list[Hit]:
        """The same hits as an index would give, as far as it looks."""
        wanted = [plain(word) for word in words]
        titles = [(each.pk, None, each.title) for each in Thread.objects.filter(pk__in=threads.values("pk")).order_by("-pk")]
        messages = Message.objects.filter(thread__in=threads.values("pk"), role__in=SEARCHED_ROLES)
        finished = messages.exclude(state__in=[Message.State.STREAMING, Message.State.QUEUED]).order_by("-created")
        texts: list[tuple[int, UUID | None, str]] = [(each.thread_id, each.pk, each.text) for each in finished[: self.LIMIT]]
        hits = (Hit(thread, message, marked(text, wanted)) for thread, message, text in [*titles, *texts])
        return [hit for hit in hits if hit.excerpt][:MAX_HITS]


def keep_in_step(using: str = "default", **kwargs: Any) -> None:
    """After every migrate: mends the index where a table was built anew."""
    if "assistants_message" in connections[using].introspection.table_names():
        index_of(connections[using]).install(connections[using])


# --- SQLite ----------------------------------------------------------------------------------------------------------
# Rows are keyed by a number of our own: the hidden row numbers of Django's tables may change when the file is compacted.
TABLES = (
    "CREATE TABLE IF NOT EXISTS assistants_searchkey (id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL, message_id CHAR(32))",
    "CREATE UNIQUE INDEX IF NOT EXISTS searchkey_message ON assistants_searchkey (message_id) WHERE message_id IS NOT NULL",
    "CREATE UNIQUE INDEX IF NOT EXISTS searchkey_title ON assistants_searchkey (thread_id) WHERE message_id IS NULL",
    """CREATE VIRTUAL TABLE IF NOT EXISTS assistants_searchtext
       USING fts5(text, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3')""",
)
_TEXT = """(SELECT group_concat(json_extract(part.value, '$.text'), ' ') FROM json_each({row}.parts) AS part
            WHERE json_extract(part.value, '$.type') = 'text')"""
_READABLE = "{row}.role IN ('user', 'assistant') AND {row}.state NOT IN ('streaming', 'queued')"
_ADD_MESSAGE = f"""
    INSERT INTO assistants_searchkey (thread_id, message_id)
        SELECT NEW.thread_id, NEW.id WHERE {_READABLE.format(row="NEW")};
    INSERT INTO assistants_searchtext (rowid, text)
        SELECT id, coalesce({_TEXT.format(row="NEW")}, '') FROM assistants_searchkey WHERE message_id = NEW.id;"""
_DROP_MESSAGE = """
    DELETE FROM assistants_searchtext WHERE rowid = (SELECT id FROM assistants_searchkey WHERE message_id = OLD.id);
    DELETE FROM assistants_searchkey WHERE message_id = OLD.id;"""
_ADD_TITLE = """
    INSERT INTO assistants_searchkey (thread_id, message_id) VALUES (NEW.id, NULL);
    INSERT INTO assistants_searchtext (rowid, text)
        SELECT id, NEW.title FROM assistants_searchkey WHERE thread_id = NEW.id AND message_id IS NULL;"""
_DROP_TITLE = """
    DELETE FROM assistants_searchtext
        WHERE rowid = (SELECT id FROM assistants_searchkey WHERE thread_id = OLD.id AND message_id IS NULL);
    DELETE FROM assistants_searchkey WHERE thread_id = OLD.id AND message_id IS NULL;"""
TRIGGERS = {
    "search_message_added": f"AFTER INSERT ON assistants_message BEGIN {_ADD_MESSAGE} END",
    # A growing reply is saved every second and searched only when it is finished.
    "search_message_changed": f"""AFTER UPDATE OF parts, state, role ON assistants_message
        WHEN NEW.state <> 'streaming' OR OLD.state <> 'streaming' BEGIN {_DROP_MESSAGE} {_ADD_MESSAGE} END""",
    "search_message_gone": f"AFTER DELETE ON assistants_message BEGIN {_DROP_MESSAGE} END",
    "search_title_added": f"AFTER INSERT ON assistants_thread BEGIN {_ADD_TITLE} END",
    "search_title_changed": f"""AFTER UPDATE OF title ON assistants_thread WHEN NEW.title IS NOT OLD.title
        BEGIN {_DROP_TITLE} {_ADD_TITLE} END""",
    "search_title_gone": f"AFTER DELETE ON assistants_thread BEGIN {_DROP_TITLE} END",
}
FILL = (
    "DELETE FROM assistants_searchtext",
    "DELETE FROM assistants_searchkey",
    "INSERT INTO assistants_searchkey (thread_id, message_id) SELECT id, NULL FROM assistants_thread",
    f"""INSERT INTO assistants_searchkey (thread_id, message_id)
        SELECT thread_id, id FROM assistants_message AS row WHERE {_READABLE.format(row="row")} ORDER BY created""",
    """INSERT INTO assistants_searchtext (rowid, text) SELECT key.id, thread.title
       FROM assistants_searchkey AS key JOIN assistants_thread AS thread ON thread.id = key.thread_id
       WHERE key.message_id IS NULL""",
    f"""INSERT INTO assistants_searchtext (rowid, text) SELECT key.id, coalesce({_TEXT.format(row="row")}, '')
        FROM assistants_searchkey AS key JOIN assistants_message AS row ON row.id = key.message_id""",
)
FIND = """SELECT key.id, key.thread_id, key.message_id
    FROM assistants_searchtext JOIN assistants_searchkey AS key ON key.id = assistants_searchtext.rowid
    WHERE assistants_searchtext MATCH %s AND key.thread_id IN ({threads})
    ORDER BY key.message_id IS NOT NULL, key.id DESC LIMIT %s"""
EXCERPTS = """SELECT rowid, snippet(assistants_searchtext, 0, %s, %s, '…', 24)
    FROM assistants_searchtext WHERE assistants_searchtext MATCH %s AND rowid IN ({rows})"""
