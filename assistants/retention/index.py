"""Takes what was deleted out of the full-text indexes of SQLite, which otherwise keep its words until they have to merge."""

from django.db import connection

PAGES = 500


def forget_deleted_words() -> None:
    """Merges every full-text index into one piece, in steps that hold up nobody for long. Nothing to do on PostgreSQL."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%fts5%'")
        names = [connection.ops.quote_name(name) for (name,) in cursor.fetchall()]
    for name in names:
        # The sign makes the first step gather all pieces; the others go on with that.
        if _merge(name, -PAGES):
            while _merge(name, PAGES):
                pass


def _merge(name: str, pages: int) -> bool:
    """One step, in a transaction of its own; whether there is more to do."""
    with connection.cursor() as cursor:
        before = connection.connection.total_changes
        cursor.execute(f"INSERT INTO {name}({name}, rank) VALUES ('merge', %s)", [pages])
        return bool(connection.connection.total_changes - before >= 2)
