"""The full-text index of passages on PostgreSQL: their words as a `tsvector`, ranked by rarity and place."""

from collections.abc import Iterable, Sequence

from django.db import connection as default_connection
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from .prepare import Columns
from .ranked import MOST_COUNTED, Entry, Ranked, rarity_of
from .words import Term, plain_words

# Each column is one of the four labels that words of a `tsvector` may have. Body and parts come last: only so many places
# are kept.
LABELS = (("heading", "A"), ("title", "B"), ("body", "C"), ("parts", "D"))
# What a word counts in parts, body, title and heading; the length of a passage is left to the second ranking.
WEIGHTS = "{0.1, 1.0, 1.0, 1.0}"
LAST_PLACE, LONGEST_WORD = 16_000, 60


class PostgresIndex:
    """Rows are added beside their passages and vanish with them by a trigger, whoever deletes them."""

    # Its own rank is a poor one: the right passage is often far behind.
    candidates = 100

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Makes what is missing."""
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            # Asked first: to make anew what is there already would wait for whoever writes.
            cursor.execute("SELECT to_regclass('assistants_passagetext')")
            (table,) = cursor.fetchone()
            cursor.execute("SELECT count(*) FROM pg_trigger WHERE tgname = ANY(%s)", [TRIGGERS])
            (triggers,) = cursor.fetchone()
            if table is None or triggers < len(TRIGGERS):
                for statement in SETUP:
                    cursor.execute(statement)
            cursor.execute(TIDY)

    def add(self, root_id: int, entries: Iterable[Entry]) -> None:
        """Indexes passages, by their ids. The words come folded, so that `Straße` and STRASSE are one."""
        rows = [(passage, root_id, _vector(each)) for passage, each in entries]
        with default_connection.cursor() as cursor:
            cursor.executemany(ADD, rows)

    def find(self, root_ids: Sequence[int], terms: Sequence[Term], *, limit: int) -> Ranked:
        """Any of the words, in these roots only; that is decided in the index itself (S10)."""
        queries = [_query(term) for term in terms]
        roots, anything = list(root_ids), " | ".join(filter(None, queries))
        if not roots or not anything:
            return Ranked(0, {})
        with default_connection.cursor() as cursor:
            cursor.execute(COUNT, [roots, anything, MOST_COUNTED])
            total = cursor.fetchone()[0]
            cursor.execute(SIZES.format(sizes=", ".join([SIZE] * len(queries))), [roots, *queries, roots, anything])
            size, *bearers = cursor.fetchone()
            # The rarer a word is in these roots, the more it says.
            values = tuple(rarity_of(each, size) for each in bearers)
            score = " + ".join([SCORE] * len(queries))
            told = [part for pair in zip(values, queries, strict=True) for part in pair]
            cursor.execute(FIND.format(score=score), [*told, roots, anything, limit])
            return Ranked(total, dict(cursor.fetchall()), values)


def _vector(columns: Columns) -> str:
    """The words of a passage with their places, as PostgreSQL reads a `tsvector`."""
    places: dict[str, list[str]] = {}
    place = 0
    for name, label in LABELS:
        for word in plain_words(getattr(columns, name)):
            place = min(place + 1, LAST_PLACE)
            places.setdefault(word[:LONGEST_WORD], []).append(f"{place}{label}")
    return " ".join(f"'{word}':{','.join(found[:200])}" for word, found in places.items())


def _query(term: Term) -> str:
    """What answers for the term, in PostgreSQL's own language; no word holds a sign of it."""
    found = [_phrase(form) for form in term.forms]
    if term.may_be_part:
        found.append(f"'{term.stem}':*D")
    return " | ".join(each for each in found if each)


def _phrase(text: str) -> str:
    words = " <-> ".join(f"'{word[:LONGEST_WORD]}':ABC" for word in plain_words(text))
    return f"({words})" if words else ""


TRIGGERS = ["passage_gone", "passages_emptied"]
SETUP = (
    """CREATE TABLE IF NOT EXISTS assistants_passagetext (passage_id bigint PRIMARY KEY, root_id bigint NOT NULL,
        words tsvector NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS passagetext_root ON assistants_passagetext (root_id)",
    """CREATE INDEX IF NOT EXISTS passagetext_words ON assistants_passagetext USING gin (words)
        WITH (gin_pending_list_limit = 256)""",
    """CREATE OR REPLACE FUNCTION taskmonkey_passages_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP = 'TRUNCATE' THEN TRUNCATE assistants_passagetext;
        ELSE DELETE FROM assistants_passagetext WHERE passage_id IN (SELECT id FROM gone); END IF;
        RETURN NULL; END $$""",
    """CREATE OR REPLACE TRIGGER passage_gone AFTER DELETE ON assistants_passage REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION taskmonkey_passages_gone()""",
    """CREATE OR REPLACE TRIGGER passages_emptied AFTER TRUNCATE ON assistants_passage
        FOR EACH STATEMENT EXECUTE FUNCTION taskmonkey_passages_gone()""",
)
TIDY = "DELETE FROM assistants_passagetext AS old WHERE NOT EXISTS (SELECT 1 FROM assistants_passage WHERE id = old.passage_id)"
ADD = """INSERT INTO assistants_passagetext (passage_id, root_id, words) VALUES (%s, %s, %s::tsvector)
    ON CONFLICT (passage_id) DO UPDATE SET root_id = excluded.root_id, words = excluded.words"""
COUNT = """SELECT count(*) FROM
    (SELECT 1 FROM assistants_passagetext WHERE root_id = ANY(%s) AND words @@ %s::tsquery LIMIT %s) AS found"""
SIZE = "count(*) FILTER (WHERE words @@ %s::tsquery)"
SIZES = """SELECT (SELECT count(*) FROM assistants_passagetext WHERE root_id = ANY(%s)), {sizes}
    FROM assistants_passagetext WHERE root_id = ANY(%s) AND words @@ %s::tsquery"""
SCORE = f"%s * ts_rank('{WEIGHTS}', words, %s::tsquery)"
FIND = """SELECT passage_id, {score} AS score
    FROM assistants_passagetext WHERE root_id = ANY(%s) AND words @@ %s::tsquery ORDER BY score DESC, passage_id LIMIT %s"""
