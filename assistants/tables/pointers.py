"""Keeps tables and finds them again: only the same tenant and the same conversation at the top get at one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from assistants.errors import CodedError
from assistants.models import StoredTable, Thread, ToolCall

from .values import Column, check_table

POINTER = re.compile(r"tbl_[0-9a-f]{12}")


@dataclass(frozen=True)
class Draft:
    """A table that is to be kept; `sources` have been looked up."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    sources: tuple[str, ...]


def store_table(thread: Thread, call: ToolCall, draft: Draft) -> StoredTable:
    """Keeps the table with the conversation at the top. The same call a second time gets the first table (D5).

    Raises what `check_table` raises; nothing is kept then.
    """
    check_table(draft.columns, draft.rows)
    table, _ = StoredTable.objects.get_or_create(
        call=call,
        defaults={
            "tenant_id": thread.tenant_id,
            "root_id": thread.root_id_or_own,
            "title": draft.title,
            "columns": [column.model_dump() for column in draft.columns],
            "rows": [list(row) for row in draft.rows],
            "row_count": len(draft.rows),
            "sources": list(draft.sources),
        },
    )
    return table


def get_table(thread: Thread, pointer: str) -> StoredTable:
    """The table that the pointer stands for in this conversation.

    Raises `TABLE_NOT_FOUND`, in the same words for a pointer of another conversation, an unknown one and a misspelt one.
    """
    table = find_table(thread, pointer)
    if table is None:
        raise CodedError(
            code="TABLE_NOT_FOUND",
            field="pointer",
            message="This conversation has no table with this pointer.",
            fix="Give a pointer that cache_assembled_table returned in this conversation, exactly as it stands.",
        )
    return table


def find_table(thread: Thread, pointer: str) -> StoredTable | None:
    """The table, or None for whatever `get_table` refuses."""
    if not POINTER.fullmatch(pointer):
        return None
    kept = StoredTable.objects.filter(tenant_id=thread.tenant_id, root_id=thread.root_id_or_own)
    return kept.filter(pointer=pointer).first()


def columns_of(table: StoredTable) -> tuple[Column, ...]:
    return tuple(Column(**column) for column in table.columns)


def copy_tables(source: Thread, copy: Thread, texts: Sequence[str], calls: Mapping[str, UUID]) -> None:
    """Gives a copied conversation its own copy of each table that it made or names, under the same pointer.

    So every word that was copied stays true, and the copy does not depend on what becomes of the original. `calls` maps
    the ids of copied calls to the new ones.
    """
    named = {pointer for text in texts for pointer in POINTER.findall(text)}
    wanted = Q(pointer__in=named) | Q(call__in=list(calls))
    tables = list(StoredTable.objects.filter(wanted, root_id=source.root_id_or_own))
    for table in tables:
        table.pk, table.root_id = None, copy.pk
        table.call_id = calls.get(str(table.call_id))
        table._state.adding = True
    StoredTable.objects.bulk_create(tables)
