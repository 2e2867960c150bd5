"""The triggers that keep events, audit entries and comments as they were written."""

from collections.abc import Iterable, Sequence
from typing import Any

TABLES = ("inbox_event", "inbox_auditentry", "inbox_comment")
_VERBS = ("UPDATE", "DELETE")


def install(schema_editor: Any, tables: Sequence[str] = TABLES) -> None:
    """Make UPDATE, DELETE (and on PostgreSQL TRUNCATE) fail on append-only tables."""
    build = _sqlite_triggers if schema_editor.connection.vendor == "sqlite" else _triggers
    _execute(schema_editor, build(tables))


def remove(schema_editor: Any, tables: Sequence[str] = TABLES) -> None:
    """Take the triggers away: only a migration backwards and a test's clean-up may."""
    if schema_editor.connection.vendor == "sqlite":
        names = [f"{table}_no_{verb.lower()}" for table in tables for verb in _VERBS]
        _execute(schema_editor, [f"DROP TRIGGER {name}" for name in names])
    else:
        _execute(
            schema_editor, [f"DROP TRIGGER {table}_append_only ON {table}" for table in tables]
        )


def _execute(schema_editor: Any, statements: Iterable[str]) -> None:
    for statement in statements:
        schema_editor.execute(statement, params=None)


def _sqlite_triggers(tables: Sequence[str]) -> list[str]:
    return [
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        for table in tables
        for verb in _VERBS
    ]


def _triggers(tables: Sequence[str]) -> list[str]:
    # The function stays when triggers go: those of other tables may still call it.
    function = (
        "CREATE OR REPLACE FUNCTION signoff_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    return [
        function,
        *(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION signoff_append_only()"
            for table in tables
        ),
    ]
