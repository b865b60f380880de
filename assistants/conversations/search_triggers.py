"""Triggers that keep a full-text index in step; where one was missing, the index missed changes and is filled anew."""

from collections.abc import Iterable, Mapping
from typing import Any


def mend_triggers(cursor: Any, triggers: Mapping[str, str], *, known: Iterable[str], fill: Iterable[str]) -> None:
    """Makes the triggers, by name, that are not among the known ones; after any of them runs the statements of `fill`."""
    missing = triggers.keys() - set(known)
    for name in missing:
        cursor.execute(f"CREATE TRIGGER {name} {triggers[name]}")
    if missing:
        for statement in fill:
            cursor.execute(statement)
