"""The triggers that keep events and audit entries as they were written."""

from typing import Any

TABLES = ("inbox_event", "inbox_auditentry")
_VERBS = ("UPDATE", "DELETE")


def install(schema_editor: Any) -> None:
    """Make UPDATE, DELETE (and on PostgreSQL TRUNCATE) fail on every append-only table."""
    _execute(schema_editor, _install_sql)


def remove(schema_editor: Any) -> None:
    """Take the triggers away: only a migration backwards and a test's clean-up may."""
    _execute(schema_editor, _remove_sql)


def _execute(schema_editor: Any, build: Any) -> None:
    for statement in build(schema_editor.connection.vendor):
        schema_editor.execute(statement, params=None)


def _install_sql(vendor: str) -> list[str]:
    if vendor == "sqlite":
        return [
            f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            for table in TABLES
            for verb in _VERBS
        ]
    function = (
        "CREATE OR REPLACE FUNCTION signoff_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    return [
        function,
        *(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION signoff_append_only()"
            for table in TABLES
        ),
    ]


def _remove_sql(vendor: str) -> list[str]:
    if vendor == "sqlite":
        return [f"DROP TRIGGER {table}_no_{verb.lower()}" for table in TABLES for verb in _VERBS]
    return [
        *(f"DROP TRIGGER {table}_append_only ON {table}" for table in TABLES),
        "DROP FUNCTION signoff_append_only()",
    ]
