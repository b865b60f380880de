"""The rows of both apps as plain data and back: columns by name, so that a later schema can take an earlier one's rows."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, models

from assistants.documents.mirror import Mirror
from assistants.models import Document

# What stands in a journal for the folder that holds its documents.
FOLDER = "{folder}"
# Rows that say nothing about a turn, or belong to a process that is gone.
LEFT_OUT = {"assistants.auditentry", "assistants.runner"}

Tables = dict[str, dict[str, Any]]


def dump(folder: str = "") -> Tables:
    """Every row of both apps as {label: {"columns": [names], "rows": [[values]]}}; tables without rows are left out."""
    return {label: table for model, label in _models() if (table := _dump_table(model, folder))}


def load(tables: Tables, folder: Path) -> None:
    """Puts the rows into the present schema, inside the caller's transaction; columns that came later get their defaults.

    Fails for a column or table that is gone: what became of it has to be said in `upgrades`.
    """
    known = {label: model for model, label in _models()}
    for label, table in tables.items():
        assert label in known, f"the table {label} is gone: say in tests/journals/upgrades.py what became of its rows"
        _load_table(known[label], label, table, str(folder))
    _go_on_counting(known[label] for label in tables)
    for document in Document.objects.all():
        target = folder / document.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(document.text)
        Mirror(document.root_id).write(document.path, document.text)


def _models() -> Iterator[tuple[type[models.Model], str]]:
    for model in apps.get_models(include_auto_created=True):
        label = model._meta.label_lower
        if model._meta.app_label in ("assistants", "subchats") and model._meta.managed and label not in LEFT_OUT:
            yield model, label


def _dump_table(model: type[models.Model], folder: str) -> dict[str, Any]:
    fields = model._meta.concrete_fields
    rows = [[_plain(field.value_from_object(row), folder) for field in fields] for row in model._base_manager.order_by("pk")]
    return {"columns": [field.attname for field in fields], "rows": rows} if rows else {}


def _plain(value: Any, folder: str) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case UUID() | Decimal():
            return str(value)
        case str() if folder:
            return value.replace(folder, FOLDER)
        case dict():
            return {key: _plain(item, folder) for key, item in value.items()}
        case list():
            return [_plain(item, folder) for item in value]
    return value


def _load_table(model: type[models.Model], label: str, table: dict[str, Any], folder: str) -> None:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    for name in table["columns"]:
        assert name in fields, f"{label}.{name} is gone: say in tests/journals/upgrades.py what became of it"
    missing = [field for name, field in fields.items() if name not in table["columns"]]
    values = [
        [_stored(fields[name], value, folder) for name, value in zip(table["columns"], row, strict=True)]
        + [field.get_db_prep_save(field.get_default(), connection) for field in missing]
        for row in table["rows"]
    ]
    written = [fields[name] for name in table["columns"]] + missing
    quote = connection.ops.quote_name
    columns = ", ".join(quote(field.column) for field in written)
    blanks = ", ".join(["%s"] * len(written))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({blanks})", values)


def _stored(field: Any, value: Any, folder: str) -> Any:
    if isinstance(value, str | dict | list):
        value = _placed(value, folder)
    if not isinstance(field, models.JSONField):
        value = field.to_python(value)
    return field.get_db_prep_save(value, connection)


def _placed(value: Any, folder: str) -> Any:
    match value:
        case str():
            return value.replace(FOLDER, folder)
        case dict():
            return {key: _placed(item, folder) for key, item in value.items()}
        case list():
            return [_placed(item, folder) for item in value]
    return value


def _go_on_counting(loaded: Iterator[type[models.Model]]) -> None:
    """Databases that count rows by themselves must not give out a number that a row brought along."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(loaded)):
            cursor.execute(statement)
