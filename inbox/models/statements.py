"""
SQL of the hot paths, compiled once from the models and executed with new parameters.

Django rebuilds a query each time it runs, which takes several times as long as the database needs
for it. A statement here is written as an ordinary queryset, with `Params` in place of values; it is
compiled on first use, for each database vendor and size of its lists. All other code uses the ORM
directly.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Value
from django.db.models.base import ModelState
from django.db.models.query import FlatValuesListIterable, ModelIterable, QuerySet
from django.db.models.sql import UpdateQuery
from django.db.transaction import TransactionManagementError

Row = TypeVar("Row")

#: Rows of one INSERT; up to `_EXACT_ROWS` each number has a statement of its own.
_MOST_ROWS = 128
_EXACT_ROWS = 16

#: Fields that do not convert their values.
_PLAIN_FIELDS = (
    models.CharField,
    models.TextField,
    models.IntegerField,
    models.BooleanField,
    models.UUIDField,
    models.DateTimeField,
    models.ForeignKey,
)
#: Types that the drivers accept unchanged.
_UNCHANGED = frozenset((str, int, bool, type(None)))


class _Slot(NamedTuple):
    """The place of a parameter in a statement; `place` is the one in a list."""

    name: str
    place: int | None = None


class Params:
    """The parameters of a statement: `params.team_id`, and `params.each("ids")` for a list."""

    def __init__(self, lengths: Mapping[str, int]) -> None:
        self._lengths = lengths

    def __getattr__(self, name: str) -> Value:
        return Value(_Slot(name))

    def each(self, name: str) -> list[Any]:
        """Return a list for `__in`; name a foreign key's field: `tool_call__pk__in`."""
        return [Value(_Slot(name, place)) for place in range(self._lengths[name])]


class _Compiled(NamedTuple):
    sql: str
    params: tuple[Any, ...]  #: values, and slots for the parameters of each execution
    build: Callable[[Any, BaseDatabaseWrapper], Any]
    locks: bool = False


class _Statement(ABC, Generic[Row]):
    def __init__(self, queryset: "Callable[[Params], QuerySet[Any, Row]]") -> None:
        self._queryset = queryset
        self._compiled: dict[Any, _Compiled] = {}

    @abstractmethod
    def _compile(
        self, database: BaseDatabaseWrapper, names: Sequence[str], queryset: "QuerySet[Any, Row]"
    ) -> _Compiled:
        """Return the SQL of a queryset; `names` are the fields that an update sets."""

    def _execute(
        self,
        database: BaseDatabaseWrapper,
        cursor: Any,
        names: Sequence[str],
        params: Mapping[str, Any],
    ) -> _Compiled:
        lengths = {
            name: _rounded(len(value))
            for name, value in params.items()
            if isinstance(value, (list, tuple))
        }
        key = (database.vendor, *names, *lengths.values())
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = self._compile(database, names, self._queryset(Params(lengths)))
            self._compiled[key] = compiled
        if compiled.locks and not database.in_atomic_block:
            raise TransactionManagementError("Rows are locked in transactions only.")
        values = [_filled(item, params) for item in compiled.params]
        cursor.execute(compiled.sql, _driver_values(values, database))
        return compiled


class Select(_Statement[Row]):
    """A query for rows of a model, or for what `values_list` returns."""

    def all(self, **params: Any) -> list[Row]:
        database = connections[DEFAULT_DB_ALIAS]
        with database.cursor() as cursor:
            build = self._execute(database, cursor, (), params).build
            return [build(row, database) for row in cursor.fetchall()]

    def first(self, **params: Any) -> Row | None:
        """Return the first row or None; limit the queryset to one row if there can be more."""
        database = connections[DEFAULT_DB_ALIAS]
        with database.cursor() as cursor:
            build = self._execute(database, cursor, (), params).build
            row = cursor.fetchone()
            return None if row is None else build(row, database)

    def _compile(
        self, database: BaseDatabaseWrapper, names: Sequence[str], queryset: "QuerySet[Any, Row]"
    ) -> _Compiled:
        compiler = queryset.query.get_compiler(connection=database)
        sql, params = compiler.as_sql()
        build = _builder(compiler, queryset._iterable_class)
        return _Compiled(sql, tuple(params), build, bool(queryset.query.select_for_update))


class Update(_Statement[Any]):
    """A change of columns of the rows of a queryset."""

    def execute(self, columns: Mapping[str, Any], **params: Any) -> int:
        """Change the columns, named by their fields, and return the number of rows."""
        values = {f"set_{name}": value for name, value in columns.items()}
        database = connections[DEFAULT_DB_ALIAS]
        with database.cursor() as cursor:
            self._execute(database, cursor, tuple(columns), {**params, **values})
            return int(cursor.rowcount)

    def _compile(
        self, database: BaseDatabaseWrapper, names: Sequence[str], queryset: "QuerySet[Any, Any]"
    ) -> _Compiled:
        _check_plain([queryset.model._meta.get_field(name) for name in names])
        query: Any = queryset.query.chain(UpdateQuery)
        query.add_update_values({name: Value(_Slot(f"set_{name}")) for name in names})
        sql, params = query.get_compiler(connection=database).as_sql()
        return _Compiled(sql, tuple(params), build=lambda row, _database: row)


def save_fields(row: models.Model, *names: str) -> None:
    """
    Store some fields of a row, as `row.save(update_fields=names)` does, without signals.

    Raises:
        DatabaseError: the row is gone.
    """
    model = type(row)
    statement = _UPDATES.get(model)
    if statement is None:
        manager = model._base_manager
        statement = _UPDATES[model] = Update(lambda params: manager.filter(pk=params.pk))
    if not statement.execute({name: _value(row, name) for name in names}, pk=row.pk):
        raise DatabaseError("Save with update_fields did not affect any rows.")


def _value(row: models.Model, name: str) -> Any:
    field: Any = row._meta.get_field(name)
    return getattr(row, field.attname)


def insert(rows: Sequence[models.Model], *, update: Sequence[str] = ()) -> None:
    """
    Insert rows of one model, as `bulk_create` does, and set the ids that the database creates.

    Fields with `db_default` need a value. Of rows that exist the `update` fields are changed.
    """
    if rows:
        pks = insert_values(type(rows[0]), [row.__dict__ for row in rows], update=update)
        for row, pk in zip(rows, pks, strict=False):
            row.pk = pk
        _mark_stored(rows)


def insert_values(
    model: type[models.Model],
    rows: Sequence[Mapping[str, Any]],
    *,
    update: Sequence[str] = (),
) -> list[Any]:
    """
    Insert rows given as values by the names of columns' attributes; missing ones are NULL.

    Returns the ids in the order of the rows, if the database creates them.
    """
    return [pk for part in _parts(rows) for pk in _insert(model, part, tuple(update))]


def insert_if_absent(rows: Sequence[models.Model]) -> bool:
    """
    Insert rows unless a unique constraint has one already; return whether all were inserted.

    Waits for a concurrent transaction that inserts the same row. Not for ids of the database.
    """
    database = connections[DEFAULT_DB_ALIAS]
    number = 0
    for part in _parts(rows):
        sql, names, _ = _insert_sql(database, type(part[0]), len(part), None)
        values = [getattr(row, name) for row in part for name in names]
        with database.cursor() as cursor:
            cursor.execute(sql, _driver_values(values, database))
            number += cursor.rowcount
    _mark_stored(rows)
    return number == len(rows)


def _parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Split the rows of an INSERT into powers of two, so that few statements are compiled."""
    start = 0
    while start < len(rows):
        number = len(rows) - start
        if number > _EXACT_ROWS:
            number = min(1 << number.bit_length() - 1, _MOST_ROWS)
        yield rows[start : start + number]
        start += number


def _mark_stored(rows: Iterable[models.Model]) -> None:
    for row in rows:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


_UPDATES: dict[type[models.Model], Update] = {}
_INSERTS: dict[Any, tuple[str, list[str], bool]] = {}


def _insert(
    model: type[models.Model], rows: Sequence[Mapping[str, Any]], update: tuple[str, ...]
) -> list[Any]:
    database = connections[DEFAULT_DB_ALIAS]
    sql, names, makes_ids = _insert_sql(database, model, len(rows), update)
    values = [row.get(name) for row in rows for name in names]
    with database.cursor() as cursor:
        cursor.execute(sql, _driver_values(values, database))
        return [pk for (pk,) in cursor.fetchall()] if makes_ids else []


def _insert_sql(
    database: BaseDatabaseWrapper,
    model: type[models.Model],
    number: int,
    update: tuple[str, ...] | None,
) -> tuple[str, list[str], bool]:
    """
    Return the statement, the attributes of its columns, and whether it returns new ids.

    Rows that exist get the `update` fields; with None they stay as they are.
    """
    key = (database.vendor, model, number, update)
    if key not in _INSERTS:
        _INSERTS[key] = _compile_insert(database, model, number, update)
    return _INSERTS[key]


def _compile_insert(
    database: BaseDatabaseWrapper,
    model: type[models.Model],
    number: int,
    update: tuple[str, ...] | None,
) -> tuple[str, list[str], bool]:
    name = database.ops.quote_name
    pk: Any = model._meta.pk
    makes_ids = isinstance(pk, models.AutoField)
    fields = [field for field in model._meta.concrete_fields if not (makes_ids and field is pk)]
    _check_plain(fields)
    row = f"({', '.join(['%s'] * len(fields))})"
    columns = ", ".join(name(str(field.column)) for field in fields)
    returning = f" RETURNING {name(pk.column)}" if makes_ids else ""
    table = name(model._meta.db_table)
    conflict = " ON CONFLICT DO NOTHING" if update is None else ""
    if update:
        changed = [name(str(field.column)) for field in fields if field.name in update]
        setting = ", ".join(f"{column} = EXCLUDED.{column}" for column in changed)
        conflict = f" ON CONFLICT ({name(pk.column)}) DO UPDATE SET {setting}"
    values = ", ".join([row] * number)
    sql = f"INSERT INTO {table} ({columns}) VALUES {values}{conflict}{returning}"
    return sql, [field.attname for field in fields], makes_ids


def _check_plain(fields: Iterable[Any]) -> None:
    """Raise TypeError for fields that convert their values themselves, as JSONField does."""
    for field in fields:
        if not isinstance(field, _PLAIN_FIELDS):
            raise TypeError(f"{field} converts its values: use the ORM")


def _filled(item: Any, params: Mapping[str, Any]) -> Any:
    if type(item) is not _Slot:
        return item
    value = params[item.name]
    return value if item.place is None else value[min(item.place, len(value) - 1)]


def _rounded(length: int) -> int:
    """Return the next power of two: a list's last value is repeated, for fewer statements."""
    return 1 << (length - 1).bit_length() if length else 0


def _driver_values(values: Sequence[Any], database: BaseDatabaseWrapper) -> list[Any]:
    """Return values in a form that the database driver accepts."""
    converted: dict[int, Any] = {}  # by identity: rows share their time and foreign keys
    for value in values:
        if type(value) not in _UNCHANGED and id(value) not in converted:
            converted[id(value)] = _driver_value(value, database)
    return [converted.get(id(value), value) for value in values] if converted else [*values]


def _driver_value(value: Any, database: BaseDatabaseWrapper) -> Any:
    if isinstance(value, UUID):
        return value if database.features.has_native_uuid_field else value.hex
    if isinstance(value, datetime):
        return database.ops.adapt_datetimefield_value(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, models.Model):
        pk = value.pk
        return pk if type(pk) in _UNCHANGED else _driver_value(pk, database)
    return value


def _builder(compiler: Any, iterable: type) -> Callable[[Any, BaseDatabaseWrapper], Any]:
    """Return the function that turns a row of the database into a row of the queryset."""
    columns = [item[0] for item in compiler.select[: compiler.col_count]]
    converters = [
        (position, _shared_uuid if convert == _uuid_converter(compiler) else convert, expression)
        for position, (functions, expression) in compiler.get_converters(columns).items()
        for convert in functions
    ]
    if iterable is ModelIterable:
        finish = _model_builder(compiler.klass_info, compiler.select, compiler.annotation_col_map)
    elif iterable is FlatValuesListIterable:
        finish = _first
    else:
        finish = tuple

    def build(row: Any, database: BaseDatabaseWrapper) -> Any:
        values = list(row)
        for position, convert, expression in converters:
            values[position] = convert(values[position], expression, database)
        return finish(values)

    return build


def _uuid_converter(compiler: Any) -> Any:
    """Return the function that reads UUIDs, if the database stores them as text."""
    return getattr(compiler.connection.ops, "convert_uuidfield_value", None)


def _shared_uuid(value: str | None, _expression: Any, _database: Any) -> UUID | None:
    return None if value is None else _uuid(value)


#: Rows share the ids of their team, agent, thread and run.
_uuid = lru_cache(maxsize=4096)(UUID)


def _first(values: Sequence[Any]) -> Any:
    return values[0]


def _model_builder(
    info: Mapping[str, Any], select: Sequence[Any], annotations: Mapping[str, int] | None = None
) -> Callable[[Sequence[Any]], Any]:
    """
    Return the function that builds an object from columns, with the rows of `select_related`.

    Like `Model.from_db`, but without signals, which have no receivers here.
    """
    model: type[models.Model] = info["model"]
    fields = [select[position][0].target for position in info["select_fields"]]
    names = [
        (field.attname, position)
        for field, position in zip(fields, info["select_fields"], strict=True)
    ]
    (pk,) = [position for name, position in names if name == model._meta.pk.attname]
    related = [
        (_model_builder(item, select), item["local_setter"], item["remote_setter"])
        for item in info.get("related_klass_infos", ())
    ]
    names += list((annotations or {}).items())

    def build(values: Sequence[Any]) -> Any:
        if values[pk] is None:
            return None
        row = model.__new__(model)
        row._state = ModelState()
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
        row.__dict__.update([(name, values[position]) for name, position in names])
        for build_related, set_local, set_remote in related:
            other = build_related(values)
            set_local(row, other)
            if other is not None:
                set_remote(other, row)
        return row

    return build
