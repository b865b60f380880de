"""Everything in the record that is somebody's or names them, found by walking the models, so that none can be forgotten."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model
from django.db.models.deletion import Collector

from assistants.models import User


@dataclass(frozen=True)
class Belongings:
    """Rows by the label of their model: those that are the person's, and those of others or of the team that name them."""

    theirs: dict[str, list[Model]]
    named: dict[str, list[Model]]


class _Everything(Collector):
    """Collects every row by itself, where Django would delete whole sets unseen."""

    def can_fast_delete(self, objs: Any, from_field: Any = None) -> bool:
        return False


def belongings_of(user: User) -> Belongings:
    """What would go with the person's row, down to the last row below their conversations, and what points at it besides."""
    collector = _Everything(DEFAULT_DB_ALIAS, origin=user)
    collector.collect([user])
    theirs = {model._meta.label: _ordered(rows) for model, rows in collector.data.items()}
    named: dict[str, list[Model]] = {}
    for (field, _), groups in collector.field_updates.items():
        if field.related_model is User:
            rows = [row for group in groups for row in cast(Iterable[Model], group)]
            known = {row.pk for row in theirs.get(field.model._meta.label, ())}
            named.setdefault(field.model._meta.label, []).extend(row for row in rows if row.pk not in known)
    return Belongings(theirs, {label: _ordered(rows) for label, rows in named.items() if rows})


def _ordered(rows: Iterable[Model]) -> list[Model]:
    # Twice named, such as by two fields of one row, is once there.
    return sorted({row.pk: row for row in rows}.values(), key=lambda row: (str(type(row.pk)), row.pk))
