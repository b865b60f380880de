"""Statements that are put together once and then only filled in: to build one anew costs ten times what the database takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.models import AutoField, Expression, Field, Model, QuerySet
from django.db.models.query import FlatValuesListIterable, ModelIterable, get_related_populators
from django.db.models.sql import UpdateQuery

Row = TypeVar("Row")
New = TypeVar("New", bound=Model)


class Blank(Expression):
    """A place in a query for a value that is known only when it is asked: the `item`th of the `number`th parameter."""

    def __init__(self, number: int, item: int | None = None) -> None:
        super().__init__()
        self.number, self.item = number, item

    def as_sql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return "%s", [self]

    def filled(self, values: Sequence[Any]) -> Any:
        """What the database gets for it."""
        value = values[self.number] if self.item is None else values[self.number][self.item]
        if isinstance(value, UUID):
            return value if connection.features.has_native_uuid_field else value.hex
        return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


@dataclass(frozen=True)
class Plan:
    """A query as the database gets it, and how its rows become objects. Nothing in it belongs to one thread."""

    sql: str
    parameters: tuple[Any, ...]
    converters: tuple[tuple[int, Sequence[Any], Any], ...]
    make: Callable[[Any, str], Any]


@dataclass(frozen=True)
class ChangePlan:
    """An UPDATE as the database gets it, and the fields that it sets."""

    sql: str
    parameters: tuple[Any, ...]
    fields: "tuple[Field[Any, Any], ...]"


class Prepared(Generic[Row]):
    """One query, whose rows are read or changed. `build` gets a blank for each of its parameters and gives a queryset, of
    models or of `values_list`.

    A blank stands for an int, a str, a UUID or a datetime where a lookup compares it as it is (not in `contains` and its
    like, and not for None), or for a list of them in an `in`, of a relation in `x__pk__in`: an empty one gives no rows.
    Nothing is prefetched.
    """

    def __init__(self, build: Callable[..., "QuerySet[Any, Row]"]) -> None:
        self._build = build
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self._change_plans: dict[tuple[Any, ...], ChangePlan] = {}

    def rows(self, *values: Any) -> list[Row]:
        """Asks the database, with one value for each parameter."""
        given = [_padded(each) for each in values]
        sizes = _sizes(given)
        if 0 in sizes:
            return []
        # Itself: `connection` looks for it each time.
        database = connections[DEFAULT_DB_ALIAS]
        plan = self._plans.get((database.vendor, *sizes)) or self._plan(sizes)
        with database.cursor() as cursor:
            cursor.execute(plan.sql, _filled(plan.parameters, given))
            found = cursor.fetchall()
        if plan.converters:
            found = [_converted(row, plan.converters) for row in found]
        return [plan.make(row, database.alias) for row in found]

    def first(self, *values: Any) -> Row | None:
        """The first row, where more than one is not expected."""
        return next(iter(self.rows(*values)), None)

    def exists(self, *values: Any) -> bool:
        """Whether there is any row, where more than one is not expected."""
        return bool(self.rows(*values))

    def update(self, *values: Any, **changes: Any) -> int:
        """Sets these fields in all of the rows, as a queryset's `update` does, and gives how many there are; a relation is set
        to a key."""
        given = [_padded(each) for each in values]
        sizes = _sizes(given)
        if 0 in sizes:
            return 0
        database = connections[DEFAULT_DB_ALIAS]
        names = tuple(changes)
        plan = self._change_plans.get((database.vendor, sizes, names)) or self._change_plan(sizes, names)
        given += [field.get_db_prep_save(changes[name], database) for name, field in zip(names, plan.fields, strict=True)]
        with database.cursor() as cursor:
            cursor.execute(plan.sql, _filled(plan.parameters, given))
            return int(cursor.rowcount)

    def _plan(self, sizes: tuple[int | None, ...]) -> Plan:
        queryset: Any = self._build(*_blanks(sizes))
        compiler = queryset.query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        columns = [column for column, _, _ in compiler.select[: compiler.col_count]]
        converters = tuple((place, *each) for place, each in compiler.get_converters(columns).items())
        make = _model_maker(compiler) if issubclass(queryset._iterable_class, ModelIterable) else _row_maker(queryset, compiler)
        plan = self._plans[(connection.vendor, *sizes)] = Plan(sql, tuple(parameters), converters, make)
        return plan

    def _change_plan(self, sizes: tuple[int | None, ...], names: tuple[str, ...]) -> ChangePlan:
        query: Any = self._build(*_blanks(sizes)).query.chain(UpdateQuery)
        query.add_update_values({name: Blank(len(sizes) + place) for place, name in enumerate(names)})
        sql, parameters = query.get_compiler(connection=connection).as_sql()
        fields = tuple(query.get_meta().get_field(name) for name in names)
        plan = self._change_plans[(connection.vendor, sizes, names)] = ChangePlan(sql, tuple(parameters), fields)
        return plan


def insert(row: New) -> New:
    """Stores a row that is new, as `save(force_insert=True)` does, and gives it back; no signals are sent."""
    # Itself, since each field asks it several things and `connection` would look for it each time.
    database = connections[DEFAULT_DB_ALIAS]
    sql, fields, numbered = _insertion(type(row), database.vendor)
    values = [field.get_db_prep_save(field.pre_save(row, True), database) for field in fields]
    with database.cursor() as cursor:
        cursor.execute(sql, values)
        if numbered:
            row.pk = cursor.fetchone()[0]
    row._state.adding, row._state.db = False, database.alias
    return row


def put(row: Model, *changed: str) -> None:
    """Stores a row that is new, and of any other the fields that were changed: all of them where none is named. As `save` does
    it, but no signals are sent. Raises `DatabaseError` where the row is gone."""
    if row._state.adding:
        insert(row)
        return
    fields, by_key = _stored(type(row), changed)
    if not by_key.update(row.pk, **{field.name: field.pre_save(row, False) for field in fields}):
        raise DatabaseError(f"{type(row).__name__} {row.pk} is gone")


@cache
def _stored(model: type[Model], names: tuple[str, ...]) -> "tuple[tuple[Field[Any, Any], ...], Prepared[Any]]":
    """The fields of these names, or else all but the key, and how a row is found by its key."""
    meta = model._meta
    fields = [meta.get_field(name) for name in names] or [each for each in meta.local_concrete_fields if not each.primary_key]
    return tuple(fields), Prepared(lambda pk: model._base_manager.filter(pk=pk))  # type: ignore[arg-type]


@cache
def _insertion(model: type[Model], vendor: str) -> "tuple[str, tuple[Field[Any, Any], ...], bool]":
    """The statement, the fields that it wants in their order, and whether it gives back a number that the database drew."""
    quote, meta = connection.ops.quote_name, model._meta
    fields = tuple(field for field in meta.local_concrete_fields if not isinstance(field, AutoField))
    numbered = isinstance(meta.pk, AutoField)
    columns, blanks = ", ".join(quote(str(field.column)) for field in fields), ", ".join(["%s"] * len(fields))
    returning = f" RETURNING {quote(str(meta.pk.column))}" if numbered else ""
    return f"INSERT INTO {quote(meta.db_table)} ({columns}) VALUES ({blanks}){returning}", fields, numbered


def _blanks(sizes: tuple[int | None, ...]) -> list[Any]:
    return [
        Blank(number) if size is None else [Blank(number, item) for item in range(size)] for number, size in enumerate(sizes)
    ]


def _sizes(given: Sequence[Any]) -> tuple[int | None, ...]:
    return tuple(len(each) if isinstance(each, list) else None for each in given)


def _filled(parameters: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    return [each.filled(given) if isinstance(each, Blank) else each for each in parameters]


def _padded(value: Any) -> Any:
    """A list with its last item repeated until its length is a power of two, so that there are few lengths to plan for."""
    if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
        return value
    items = list(value)
    return items + items[-1:] * ((1 << (len(items) - 1).bit_length()) - len(items)) if items else items


def _row_maker(queryset: Any, compiler: Any) -> Callable[[Any, str], Any]:
    if issubclass(queryset._iterable_class, FlatValuesListIterable):
        return lambda row, alias: row[0]
    # Behind these stands what only the order needs.
    width = compiler.col_count
    return lambda row, alias: tuple(row[:width])


def _model_maker(compiler: Any) -> Callable[[Any, str], Any]:
    """As `ModelIterable` does it."""
    info, select = compiler.klass_info, compiler.select
    model, start, end = info["model"], info["select_fields"][0], info["select_fields"][-1] + 1
    names = [column[0].target.attname for column in select[start:end]]
    related = get_related_populators(info, select, connection.alias)  # type: ignore[call-arg]
    annotations = list((compiler.annotation_col_map or {}).items())

    def make(row: Any, alias: str) -> Any:
        made = model.from_db(alias, names, row[start:end])
        for populator in related:
            populator.populate(row, made)
        for name, place in annotations:
            setattr(made, name, row[place])
        return made

    return make


def _converted(row: Sequence[Any], converters: Sequence[tuple[int, Sequence[Any], Any]]) -> list[Any]:
    changed = list(row)
    for place, chain, expression in converters:
        for convert in chain:
            changed[place] = convert(changed[place], expression, connection)
    return changed
