"""Insert the rows that a function creates without calling it again."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from django.apps import apps
from django.db import connection, transaction

Value = TypeVar("Value")
#: Tables that migrations fill.
_FILLED = frozenset({"auth_permission", "django_content_type"})


class Snapshot(Generic[Value]):
    """The rows that `build` creates in an empty database, and what it returns."""

    def __init__(self, build: Callable[[], Value]) -> None:
        self._build = build
        with _rolled_back():
            self._value = build()
            self._inserts = list(_inserts())

    def restore(self) -> Value:
        """Return what `build` returned, with its rows; build if the database is not empty."""
        if not _is_empty():
            return self._build()
        with connection.cursor() as cursor:
            for statement, values in self._inserts:
                cursor.execute(statement, values)
        return copy.deepcopy(self._value)


@contextmanager
def _rolled_back() -> Iterator[None]:
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]  # durable blocks are allowed inside
    with block:
        yield
        transaction.set_rollback(True)


def _tables() -> Iterator[tuple[str, list[str]]]:
    quote = connection.ops.quote_name
    for model in apps.get_models(include_auto_created=True):
        meta = model._meta
        if meta.managed and not meta.proxy and meta.db_table not in _FILLED:
            fields = [field for field in meta.concrete_fields if not field.generated]
            yield quote(meta.db_table), [quote(str(field.column)) for field in fields]


def _is_empty() -> bool:
    exists = " OR ".join(f"EXISTS (SELECT 1 FROM {table})" for table, _ in _tables())
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {exists}")
        return not cursor.fetchone()[0]


def _inserts() -> Iterator[tuple[str, list[Any]]]:
    """Yield one statement for each table that has rows, with its parameters."""
    for table, columns in _tables():
        names = ", ".join(columns)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {names} FROM {table}")
            rows = cursor.fetchall()
        if rows:
            places = ", ".join([f"({', '.join(['%s'] * len(columns))})"] * len(rows))
            statement = f"INSERT INTO {table} ({names}) VALUES {places}"
            yield statement, [value for row in rows for value in row]
