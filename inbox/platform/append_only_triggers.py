"""
Database triggers that make events, comments, policies and the audit trail append-only.

Why: Django has no triggers. They are installed again after every migration, because Django's SQLite
backend changes a table by copying it, and a copy has no triggers.
Remove when: Django manages triggers and restores them after SQLite table copies.
"""

from collections.abc import Collection
from typing import NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper

#: Each table with its unique keys: SQLite's REPLACE would delete the row that has the same key.
TABLES = {
    "inbox_event": (("id",), ("thread_id", "seq")),
    "inbox_comment": (("id",),),
    "inbox_auditentry": (("id",), ("chain", "seq")),
    "inbox_auditleaf": (("position",), ("entry_id",)),
    "inbox_auditcheckpoint": (("id",), ("size",)),
    "inbox_policyversion": (("id",), ("team_id", "number")),
    "inbox_ruling": (("id",), ("interrupt_id", "number")),
}
#: A payload may be deleted once a later entry of its chain records the erasure.
PAYLOADS = "inbox_auditpayload"
#: A leaf may be deleted until a checkpoint commits to it.
LEAVES = "inbox_auditleaf"
#: Rows of a thread may be deleted once an entry of its chain records that it is deleted.
EVENTS = "inbox_event"
#: The same of rows of its interrupts.
OF_INTERRUPTS = ("inbox_comment", "inbox_ruling")
_OF_DELETED_INTERRUPT = (
    "EXISTS (SELECT 1 FROM inbox_interrupt AS asked JOIN inbox_auditentry AS told"
    " ON told.chain = asked.thread_id AND told.action = 'thread.deleted'"
    " WHERE asked.id = OLD.interrupt_id)"
)
#: Conditions under which rows may be deleted.
_DELETABLE_IF = {
    EVENTS: (
        "EXISTS (SELECT 1 FROM inbox_auditentry AS told"
        " WHERE told.chain = OLD.thread_id AND told.action = 'thread.deleted')"
    ),
    **dict.fromkeys(OF_INTERRUPTS, _OF_DELETED_INTERRUPT),
    PAYLOADS: (
        "EXISTS (SELECT 1 FROM inbox_auditentry AS gone JOIN inbox_auditentry AS told"
        " ON told.chain = gone.chain AND told.seq > gone.seq"
        " AND gone.seq BETWEEN told.erases_from AND told.erases_to WHERE gone.id = OLD.entry_id)"
    ),
    LEAVES: "NOT EXISTS (SELECT 1 FROM inbox_auditcheckpoint WHERE size > OLD.position)",
}
_PROTECTED = (*TABLES, PAYLOADS)


class Trigger(NamedTuple):
    name: str
    table: str
    definition: str  #: as the database stores it


class Protection(NamedTuple):
    """The triggers and functions that protect append-only tables."""

    triggers: frozenset[Trigger]
    functions: frozenset[tuple[str, str, str]]  #: names, bodies, settings; none on SQLite


def expected_protection(connection: BaseDatabaseWrapper) -> Protection:
    if connection.vendor == "sqlite":
        return Protection(frozenset(_sqlite_triggers()), frozenset())
    setting = f"search_path={_search_path(connection)}"
    functions = frozenset((name, body, setting) for name, body in _FUNCTIONS.items())
    return Protection(frozenset(_postgresql_triggers()), functions)


def installed_protection(connection: BaseDatabaseWrapper) -> Protection:
    """Return the triggers on protected tables, and the functions with the names of ours."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
            rows = [Trigger(*row) for row in cursor.fetchall()]
            return Protection(
                frozenset(row for row in rows if row.table in _PROTECTED), frozenset()
            )
        cursor.execute(
            "SELECT tgname, relname, pg_get_triggerdef(t.oid, true) || ' ' || tgenabled::text "
            "FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid "
            "JOIN pg_namespace n ON n.oid = relnamespace AND nspname = current_schema() "
            "WHERE NOT tgisinternal AND relname = ANY(%s)",
            [list(_PROTECTED)],
        )
        triggers = frozenset(Trigger(*row) for row in cursor.fetchall())
        cursor.execute(
            "SELECT proname, prosrc, coalesce(array_to_string(proconfig, ';'), '') "
            "FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace "
            "WHERE nspname = current_schema() AND proname = ANY(%s)",
            [list(_FUNCTIONS)],
        )
        return Protection(triggers, frozenset(cursor.fetchall()))


def differences(connection: BaseDatabaseWrapper) -> list[tuple[str, str]]:
    """Return problems as codes and sentences; none before the first migration."""
    if "inbox_auditpayload" not in connection.introspection.table_names():
        return []
    installed, expected = installed_protection(connection), expected_protection(connection)
    missing = expected.triggers - installed.triggers
    unknown = installed.triggers - expected.triggers
    problems = [
        ("signoff.E001", f"A trigger is missing or changed: {trigger.table}: {trigger.name}.")
        for trigger in sorted(missing)
    ]
    problems += [
        (
            "signoff.E002",
            f"Unknown trigger on an append-only table: {trigger.table}: {trigger.name}.",
        )
        for trigger in sorted(unknown)
    ]
    if installed.functions != expected.functions:
        problems.append(("signoff.E003", "A function that triggers call was changed."))
    return problems


def install(connection: BaseDatabaseWrapper) -> None:
    """Install the triggers, unless they are installed already."""
    if installed_protection(connection) == expected_protection(connection):
        return
    remove(connection)
    with connection.cursor() as cursor:
        for statement in _statements(connection):
            cursor.execute(statement)


def allow_table_copies(connection: BaseDatabaseWrapper) -> None:
    """
    Remove the triggers that read other tables, before migrations on SQLite.

    It refuses to rename a copy of a table that a trigger names. `install` brings them back.
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for table in _DELETABLE_IF:
                cursor.execute(f"DROP TRIGGER IF EXISTS {table}_no_delete")


def remove(connection: BaseDatabaseWrapper) -> None:
    """Remove the triggers; only migrations and the clean-up of tests call this."""
    with connection.cursor() as cursor:
        for trigger in installed_protection(connection).triggers:
            on = f" ON {trigger.table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {trigger.name}{on}")


def _statements(connection: BaseDatabaseWrapper) -> Collection[str]:
    if connection.vendor == "sqlite":
        return [trigger.definition for trigger in expected_protection(connection).triggers]
    path = _search_path(connection)
    functions = [
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
        f"SET search_path = {path} AS $${body}$$"
        for name, body in _FUNCTIONS.items()
    ]
    triggers = [
        statement
        for trigger in expected_protection(connection).triggers
        for statement in (
            trigger.definition.removesuffix(" A"),
            # Fire also when `session_replication_role` disables ordinary triggers.
            f"ALTER TABLE {trigger.table} ENABLE ALWAYS TRIGGER {trigger.name}",
        )
    ]
    return [*functions, *triggers]


def grant_application(connection: BaseDatabaseWrapper, role: str, password: str = "") -> None:
    """
    Grant a PostgreSQL role the application's privileges, which do not allow changing history.

    Creates the role with this password if it does not exist. Idempotent. The owner of the tables
    runs it after every migration that adds a table.
    """
    name = connection.ops.quote_name(role)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_roles WHERE rolname = %s", [role])
        if not cursor.fetchone()[0]:
            # PostgreSQL takes no parameters in CREATE ROLE: the driver quotes the literal.
            from psycopg import sql  # noqa: PLC0415 - not loaded on SQLite

            cursor.execute(f"CREATE ROLE {name} LOGIN PASSWORD {sql.quote(password)}")
        cursor.execute(
            f"GRANT USAGE ON SCHEMA public TO {name};"
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {name};"
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {name};"
            f"REVOKE UPDATE, TRUNCATE ON {', '.join(_PROTECTED)} FROM {name};"
            f"REVOKE DELETE ON {', '.join(_never_deleted())} FROM {name};"
        )


def may_change_history(connection: BaseDatabaseWrapper) -> bool:
    """
    Return whether this connection's role could change history or remove its protection.

    On PostgreSQL: through a privilege on a table or column, or because the role is, or may become,
    the owner of a table, of the schema, or of a function that triggers call.
    """
    if connection.vendor != "postgresql":
        return False  # SQLite has no roles: access to the file is access to everything
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT bool_or(has_table_privilege(c.oid, 'TRUNCATE, TRIGGER')"
            " OR has_any_column_privilege(c.oid, 'UPDATE')"
            " OR relname = ANY(%s) AND has_table_privilege(c.oid, 'DELETE')"
            " OR pg_has_role(relowner, 'MEMBER') OR pg_has_role(nspowner, 'MEMBER')"
            " OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = n.oid AND proname = ANY(%s)"
            "  AND pg_has_role(proowner, 'MEMBER')))"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE nspname = current_schema() AND relname = ANY(%s)",
            [_never_deleted(), list(_FUNCTIONS), list(_PROTECTED)],
        )
        return bool(cursor.fetchone()[0])


def _never_deleted() -> list[str]:
    return [table for table in _PROTECTED if table not in _DELETABLE_IF]


# -- SQLite ----------------------------------------------------------------------------------------


def _sqlite_triggers() -> list[Trigger]:
    triggers = [
        _sqlite_trigger(table, f"no_{verb.lower()}", f"BEFORE {verb}")
        for table in TABLES
        for verb in ("UPDATE", "DELETE")
        if verb == "UPDATE" or table not in _DELETABLE_IF
    ]
    triggers += [
        _sqlite_trigger(table, f"no_replace_{number}", "BEFORE INSERT", _row_exists(table, columns))
        for table, keys in {**TABLES, PAYLOADS: (("entry_id",),)}.items()
        for number, columns in enumerate(keys)
    ]
    triggers.append(_sqlite_trigger(PAYLOADS, "no_update", "BEFORE UPDATE"))
    triggers += [
        _sqlite_trigger(table, "no_delete", "BEFORE DELETE", f"NOT {may_delete}")
        for table, may_delete in _DELETABLE_IF.items()
    ]
    return triggers


def _sqlite_trigger(table: str, suffix: str, event: str, condition: str = "") -> Trigger:
    name = f"{table}_{suffix}"
    condition = f" WHEN {condition}" if condition else ""
    return Trigger(
        name,
        table,
        f"CREATE TRIGGER {name} {event} ON {table}{condition} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
    )


def _row_exists(table: str, columns: Collection[str]) -> str:
    same = [f"{column} = NEW.{column}" for column in columns]
    if columns == ("id",):
        # SQLite sets NEW.id to -1 before it assigns an id; a row -1 would block every insert.
        same.append("NEW.id <> -1")
    return f"EXISTS (SELECT 1 FROM {table} WHERE {' AND '.join(same)})"  # noqa: S608 - names of ours


# -- PostgreSQL ------------------------------------------------------------------------------------


def _raise_unless(condition: str) -> str:
    return (
        f" BEGIN IF NOT {condition} THEN"
        " RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF; RETURN OLD; END "
    )


_FUNCTIONS = {
    "signoff_append_only": " BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END ",
    "signoff_erased_only": _raise_unless(_DELETABLE_IF[PAYLOADS]),
    "signoff_unsigned_only": _raise_unless(_DELETABLE_IF[LEAVES]),
    "signoff_deleted_thread_only": _raise_unless(_DELETABLE_IF[EVENTS]),
    "signoff_deleted_interrupt_only": _raise_unless(_OF_DELETED_INTERRUPT),
}
_DELETE_FUNCTIONS = {
    PAYLOADS: "signoff_erased_only",
    LEAVES: "signoff_unsigned_only",
    EVENTS: "signoff_deleted_thread_only",
    **dict.fromkeys(OF_INTERRUPTS, "signoff_deleted_interrupt_only"),
}


def _search_path(connection: BaseDatabaseWrapper) -> str:
    """
    Return a search path with the temporary schema last.

    By default PostgreSQL looks there first, so any role could shadow a table with a temporary one.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(current_schema())")
        return f"pg_catalog, {cursor.fetchone()[0]}, pg_temp"


def _postgresql_triggers() -> list[Trigger]:
    triggers = [
        _postgresql_trigger(table, "append_only", "DELETE OR UPDATE OR TRUNCATE", "STATEMENT")
        for table in _never_deleted()
    ]
    for table, function in _DELETE_FUNCTIONS.items():
        suffix = function.removeprefix("signoff_")
        triggers.append(
            _postgresql_trigger(table, "append_only", "UPDATE OR TRUNCATE", "STATEMENT")
        )
        triggers.append(_postgresql_trigger(table, suffix, "DELETE", "ROW", function))
    return triggers


def _postgresql_trigger(
    table: str, suffix: str, events: str, each: str, function: str = "signoff_append_only"
) -> Trigger:
    name = f"{table}_{suffix}"
    # The exact output of pg_get_triggerdef, then `tgenabled` A (always).
    return Trigger(
        name,
        table,
        f"CREATE TRIGGER {name} BEFORE {events} ON {table} "
        f"FOR EACH {each} EXECUTE FUNCTION {function}() A",
    )
