"""The full-text index over titles and messages on PostgreSQL: a table beside them, kept in step by triggers (Z4)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection as default_connection
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet, Sum

from assistants.models import Message, Thread

from .search_hits import MAX_HITS, MAX_PASSAGES, MAX_THREADS, Hit, marked, plain
from .search_triggers import mend_triggers

# Messages of one person that are all looked at; where there are more, first so many of the newest of all.
FEW, NEWEST = 30_000, 20_000
Row = tuple[int, UUID | None]


class PostgresIndex:
    """Words without case and accents as a `tsvector`, whose order of lexemes means nothing: any text is a set of words."""

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Makes what is missing, and indexes everything anew where a trigger was missing."""
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'")
            # What is a letter must not depend on the language for which the database was made.
            collation = 'COLLATE "und-x-icu"' if cursor.fetchone() else ""
            for statement in FUNCTIONS:
                cursor.execute(statement.replace("{collation}", collation))
            cursor.execute("SELECT to_regclass('assistants_searchtext')")
            # Asked first: to make an index that is there already would wait for whoever writes.
            if cursor.fetchone()[0] is None:
                for statement in TABLES:
                    cursor.execute(statement)
            cursor.execute("SELECT tgname FROM pg_trigger WHERE tgname LIKE 'search_%%' AND NOT tgisinternal")
            mend_triggers(cursor, TRIGGERS, known=[name for (name,) in cursor.fetchall()], fill=FILL)

    def find(self, words: list[str], threads: QuerySet[Thread]) -> list[Hit]:
        """Titles first, then the newest messages; only in these threads, decided in the same query (S10)."""
        allowed, rights = threads.order_by().values("pk").query.sql_with_params()
        with default_connection.cursor() as cursor:
            cursor.execute("SELECT taskmonkey_query(%s, %s)::text", [" ".join(words[:-1]), words[-1]])
            query = cursor.fetchone()[0]
            if not query:
                return []

            def ask(statement: str, *values: Any) -> list[Row]:
                cursor.execute(statement.format(threads=allowed), [*values, MAX_HITS])
                return list(cursor.fetchall())

            rows = ask(TITLES, *rights, query)
            if _said_in(threads) <= FEW:
                rows += ask(IN_THREADS, *rights, query)
            else:
                newest = ask(AMONG_NEWEST, NEWEST, query, *rights)
                enough = len(newest) == MAX_HITS or len({thread for thread, _ in newest}) >= MAX_THREADS
                rows += newest if enough else ask(EVERYWHERE, query, *rights)
        return _with_excerpts(rows[:MAX_HITS], [plain(word) for word in words])


def _said_in(threads: QuerySet[Thread]) -> int:
    """How many messages these threads have had."""
    return threads.order_by().aggregate(sum=Sum("last_message"))["sum"] or 0


def _with_excerpts(rows: Sequence[Row], wanted: list[str]) -> list[Hit]:
    """To find a place in a text is costly, so only what a page shows gets its excerpt."""
    shown: Counter[int] = Counter()
    needed = []
    for thread, message in rows:
        known = thread in shown or len(shown) < MAX_THREADS
        if known and shown[thread] < MAX_PASSAGES:
            needed.append((thread, message))
            shown[thread] += message is not None
    titles = dict(
        Thread.objects.filter(pk__in=[thread for thread, message in needed if message is None]).values_list("pk", "title")
    )
    texts = Message.objects.only("parts").in_bulk([message for _, message in needed if message])
    excerpts = {}
    for thread, message in needed:
        text = (texts[message].text if message in texts else "") if message else titles.get(thread, "")
        excerpts[thread, message] = marked(text, wanted)
    return [Hit(thread, message, excerpts.get((thread, message), "")) for thread, message in rows]


# A long list of what is not sorted in yet would be looked through by every search.
WORDS_INDEX = """CREATE INDEX IF NOT EXISTS searchtext_words ON assistants_searchtext USING gin (words)
    WITH (gin_pending_list_limit = 256)"""
TABLES = (
    """CREATE TABLE assistants_searchtext (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        thread_id bigint NOT NULL, message_id uuid, words tsvector NOT NULL)""",
    "CREATE UNIQUE INDEX IF NOT EXISTS searchtext_message ON assistants_searchtext (message_id) WHERE message_id IS NOT NULL",
    "CREATE UNIQUE INDEX IF NOT EXISTS searchtext_title ON assistants_searchtext (thread_id) WHERE message_id IS NULL",
    "CREATE INDEX IF NOT EXISTS searchtext_thread ON assistants_searchtext (thread_id) WHERE message_id IS NOT NULL",
    WORDS_INDEX,
    "CREATE INDEX searchtext_titles ON assistants_searchtext USING gin (words) WHERE message_id IS NULL",
)
# Of a text no more than this is indexed: what PostgreSQL takes as one `tsvector` has an end, and a save must not fail.
FUNCTIONS = (
    # Most texts are plain letters, which need not be taken apart.
    r"""CREATE OR REPLACE FUNCTION taskmonkey_words(said text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT coalesce(array_agg(DISTINCT left(word, 100)), '{}') FROM string_to_table(
            CASE WHEN octet_length(said) = length(said)
            THEN regexp_replace(lower(left(said, 200000) COLLATE "C"), '[^a-z0-9]+', ' ', 'g')
            ELSE regexp_replace(replace(lower(regexp_replace(left(normalize(left(said, 200000), NFKD), 200000) {collation},
                U&'[\0300-\036F]+', '', 'g')), 'ß', 'ss'), '[^[:alnum:]]+', ' ', 'g') COLLATE "C" END,
            ' ') AS word WHERE word <> '' $$""",
    """CREATE OR REPLACE FUNCTION taskmonkey_said(parts jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT string_agg(part->>'text', ' ') FROM jsonb_array_elements(parts) AS part WHERE part->>'type' = 'text' $$""",
    # All of the words; the last may be the beginning of one.
    """CREATE OR REPLACE FUNCTION taskmonkey_query(words text, last text) RETURNS tsquery LANGUAGE sql IMMUTABLE AS $$
        SELECT array_to_string(taskmonkey_words(words)
            || ARRAY(SELECT word || ':*' FROM unnest(taskmonkey_words(last)) AS word), ' & ')::tsquery $$""",
    """CREATE OR REPLACE FUNCTION taskmonkey_search_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP IN ('UPDATE', 'DELETE') THEN DELETE FROM assistants_searchtext WHERE message_id = OLD.id; END IF;
        IF TG_OP IN ('INSERT', 'UPDATE') THEN
            IF NEW.role IN ('user', 'assistant') AND NEW.state NOT IN ('streaming', 'queued') THEN
                INSERT INTO assistants_searchtext (thread_id, message_id, words)
                    VALUES (NEW.thread_id, NEW.id, array_to_tsvector(taskmonkey_words(taskmonkey_said(NEW.parts))));
            END IF;
        END IF;
        RETURN NULL; END $$""",
    """CREATE OR REPLACE FUNCTION taskmonkey_search_title() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP IN ('UPDATE', 'DELETE') THEN
            DELETE FROM assistants_searchtext WHERE thread_id = OLD.id AND message_id IS NULL; END IF;
        IF TG_OP IN ('INSERT', 'UPDATE') THEN
            INSERT INTO assistants_searchtext (thread_id, words)
                VALUES (NEW.id, array_to_tsvector(taskmonkey_words(NEW.title)));
        END IF;
        RETURN NULL; END $$""",
    """CREATE OR REPLACE FUNCTION taskmonkey_search_emptied() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        TRUNCATE assistants_searchtext; RETURN NULL; END $$""",
)
TRIGGERS = {
    "search_message_added": "AFTER INSERT ON assistants_message FOR EACH ROW EXECUTE FUNCTION taskmonkey_search_message()",
    # A growing reply is saved every second and searched only when it is finished.
    "search_message_changed": """AFTER UPDATE OF parts, state, role ON assistants_message FOR EACH ROW
        WHEN (NEW.state <> 'streaming' OR OLD.state <> 'streaming') EXECUTE FUNCTION taskmonkey_search_message()""",
    "search_message_gone": "AFTER DELETE ON assistants_message FOR EACH ROW EXECUTE FUNCTION taskmonkey_search_message()",
    "search_title_added": "AFTER INSERT ON assistants_thread FOR EACH ROW EXECUTE FUNCTION taskmonkey_search_title()",
    "search_title_changed": """AFTER UPDATE OF title ON assistants_thread FOR EACH ROW
        WHEN (NEW.title IS DISTINCT FROM OLD.title) EXECUTE FUNCTION taskmonkey_search_title()""",
    "search_title_gone": "AFTER DELETE ON assistants_thread FOR EACH ROW EXECUTE FUNCTION taskmonkey_search_title()",
    # Both tables are emptied together, by whoever empties a database.
    "search_emptied": "AFTER TRUNCATE ON assistants_message FOR EACH STATEMENT EXECUTE FUNCTION taskmonkey_search_emptied()",
}
FILL = (
    "TRUNCATE assistants_searchtext",
    # To sort all words in at once is many times as fast as one after the other.
    "DROP INDEX IF EXISTS searchtext_words",
    """INSERT INTO assistants_searchtext (thread_id, words)
        SELECT id, array_to_tsvector(taskmonkey_words(title)) FROM assistants_thread""",
    """INSERT INTO assistants_searchtext (thread_id, message_id, words)
        SELECT thread_id, id, array_to_tsvector(taskmonkey_words(taskmonkey_said(parts))) FROM assistants_message
        WHERE role IN ('user', 'assistant') AND state NOT IN ('streaming', 'queued') ORDER BY created""",
    WORDS_INDEX,
)
TITLES = """SELECT thread_id, message_id FROM assistants_searchtext
    WHERE message_id IS NULL AND thread_id IN ({threads}) AND words @@ %s::tsquery ORDER BY id DESC LIMIT %s"""
# Materialized and with an offset: what the planner guesses of words and rights is far off, and it must neither try its luck
# from the newest on nor look a word up among everybody's messages.
IN_THREADS = """WITH allowed AS MATERIALIZED ({threads})
    SELECT said.thread_id, said.message_id FROM allowed AS thread (id) CROSS JOIN LATERAL (
        SELECT * FROM assistants_searchtext WHERE thread_id = thread.id AND message_id IS NOT NULL OFFSET 0) AS said
    WHERE said.words @@ %s::tsquery ORDER BY said.id DESC LIMIT %s"""
EVERYWHERE = """WITH found AS MATERIALIZED (SELECT id, thread_id, message_id FROM assistants_searchtext
        WHERE message_id IS NOT NULL AND words @@ %s::tsquery)
    SELECT thread_id, message_id FROM found WHERE thread_id IN ({threads}) ORDER BY id DESC LIMIT %s"""
AMONG_NEWEST = """SELECT thread_id, message_id FROM (SELECT * FROM assistants_searchtext ORDER BY id DESC LIMIT %s) AS newest
    WHERE message_id IS NOT NULL AND words @@ %s::tsquery AND thread_id IN ({threads}) ORDER BY id DESC LIMIT %s"""
