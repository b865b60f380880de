"""What later versions did with columns that a journal of an earlier one still has, by the migrations that did it."""

# A journal is loaded column by column into the present schema. A column that is new gets its default, so nothing needs to be
# said about it here. Whoever renames or drops one, or gives its values another meaning, adds a function here that does with
# the rows of a journal what the migration does with those of a database, under the name of that migration. It is carried out
# for journals of versions that did not have the migration yet, in the order of this table.

from collections.abc import Callable, Mapping

from tests.journals.rows import Tables

UPGRADES: dict[str, Callable[[Tables], None]] = {}


def upgrade(tables: Tables, known: set[str], upgrades: Mapping[str, Callable[[Tables], None]] = UPGRADES) -> None:
    """Brings the rows of a journal up to date; `known` names the migrations that its version had: `app.0001_name`."""
    for migration, change in upgrades.items():
        if migration not in known:
            change(tables)


def rename_column(tables: Tables, label: str, old: str, new: str) -> None:
    """Gives a column its new name."""
    if label in tables:
        tables[label]["columns"] = [new if name == old else name for name in tables[label]["columns"]]


def drop_column(tables: Tables, label: str, name: str) -> None:
    """Takes a column away with its values."""
    if label in tables and name in tables[label]["columns"]:
        place = tables[label]["columns"].index(name)
        for row in (tables[label]["columns"], *tables[label]["rows"]):
            del row[place]
