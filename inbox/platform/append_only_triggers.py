"""
The triggers that keep events, comments and the audit trail as they were written.

They are made anew after every migration: SQLite copies a table to change it, and forgets them.
"""

from collections.abc import Collection
from typing import NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper

#: Each table, with the columns that identify a row: REPLACE would put another in its place.
TABLES = {
    "inbox_event": (("id",), ("thread_id", "seq")),
    "inbox_comment": (("id",),),
    "inbox_auditentry": (("id",), ("chain", "seq")),
    "inbox_auditleaf": (("position",), ("entry_id",)),
    "inbox_auditcheckpoint": (("id",), ("size",)),
}
#: A payload stays as it is, until an entry further down its chain says that it is gone.
PAYLOADS = "inbox_auditpayload"
#: A leaf stays as soon as a checkpoint commits to it; what is behind the last is in nobody's log.
LEAVES = "inbox_auditleaf"
#: Rows that may be deleted, if this holds.
_MAY_GO = {
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
    definition: str  #: as the database keeps it


class Protection(NamedTuple):
    """What a database does against those who would change history."""

    triggers: frozenset[Trigger]
    functions: frozenset[tuple[str, str, str]]  #: names, bodies, settings; none on SQLite


def wanted(connection: BaseDatabaseWrapper) -> Protection:
    """What should be installed."""
    if connection.vendor == "sqlite":
        return Protection(frozenset(_sqlite_triggers()), frozenset())
    setting = f"search_path={_search_path(connection)}"
    functions = frozenset((name, body, setting) for name, body in _FUNCTIONS.items())
    return Protection(frozenset(_postgresql_triggers()), functions)


def installed(connection: BaseDatabaseWrapper) -> Protection:
    """What is installed, under the names that ours have."""
    ours = list(_PROTECTED)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
            rows = [Trigger(*row) for row in cursor.fetchall()]
            return Protection(frozenset(row for row in rows if row.table in ours), frozenset())
        cursor.execute(
            "SELECT tgname, relname, pg_get_triggerdef(t.oid, true) || ' ' || tgenabled::text "
            "FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid "
            "JOIN pg_namespace n ON n.oid = relnamespace AND nspname = current_schema() "
            "WHERE NOT tgisinternal AND relname = ANY(%s)",
            [ours],
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
    """What is not as it should be, as a code and a sentence; [] also before the first migration."""
    if "inbox_auditpayload" not in connection.introspection.table_names():
        return []
    now, should = installed(connection), wanted(connection)
    missing = sorted(f"{one.table}: {one.name}" for one in should.triggers - now.triggers)
    added = sorted(f"{one.table}: {one.name}" for one in now.triggers - should.triggers)
    found = [("signoff.E001", f"A trigger is missing or changed: {one}.") for one in missing]
    found += [("signoff.E002", f"There is a trigger that is not ours: {one}.") for one in added]
    if now.functions != should.functions:
        found.append(("signoff.E003", "A function that triggers call has been changed."))
    return found


def install(connection: BaseDatabaseWrapper) -> None:
    """Make what should be there, unless it is."""
    if installed(connection) == wanted(connection):
        return
    remove(connection)
    with connection.cursor() as cursor:
        for statement in _statements(connection):
            cursor.execute(statement)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers away, which only a migration and a test's clean-up may."""
    with connection.cursor() as cursor:
        for trigger in installed(connection).triggers:
            on = f" ON {trigger.table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {trigger.name}{on}")


def _statements(connection: BaseDatabaseWrapper) -> Collection[str]:
    if connection.vendor == "sqlite":
        return [trigger.definition for trigger in wanted(connection).triggers]
    path = _search_path(connection)
    functions = [
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
        f"SET search_path = {path} AS $${body}$$"
        for name, body in _FUNCTIONS.items()
    ]
    made = [
        statement
        for trigger in wanted(connection).triggers
        for statement in (
            trigger.definition.removesuffix(" A"),
            # Also where `session_replication_role` switches other triggers off.
            f"ALTER TABLE {trigger.table} ENABLE ALWAYS TRIGGER {trigger.name}",
        )
    ]
    return [*functions, *made]


def grant_application(connection: BaseDatabaseWrapper, role: str, password: str = "") -> None:
    """
    Let a role of PostgreSQL do what the application does, which changes no history.

    The role is made if there is none, to log in with this password. Safe to replay; to be run by
    the owner of the tables, after every migration that adds one.
    """
    name = connection.ops.quote_name(role)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_roles WHERE rolname = %s", [role])
        if not cursor.fetchone()[0]:
            cursor.execute(f"CREATE ROLE {name} LOGIN PASSWORD %s", [password])
        cursor.execute(
            f"GRANT USAGE ON SCHEMA public TO {name};"
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {name};"
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {name};"
            f"REVOKE UPDATE, TRUNCATE ON {', '.join(_PROTECTED)} FROM {name};"
            f"REVOKE DELETE ON {', '.join(_never_deleted())} FROM {name};"
        )


def may_change_history(connection: BaseDatabaseWrapper) -> bool:
    """
    Whether the role of this connection could change history, or take away what protects it.

    On PostgreSQL: by a privilege on a table, or on one of its columns, or because it is, or may
    become, the owner of a table, of a function that triggers call, or of the schema.
    """
    if connection.vendor != "postgresql":
        return False  # whoever can write the file of SQLite can do everything
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
    return [table for table in _PROTECTED if table not in _MAY_GO]


# -- SQLite ----------------------------------------------------------------------------------------


def _sqlite_triggers() -> list[Trigger]:
    found = [
        _sqlite(table, f"no_{verb.lower()}", f"BEFORE {verb}")
        for table in TABLES
        for verb in ("UPDATE", "DELETE")
        if verb == "UPDATE" or table not in _MAY_GO
    ]
    found += [
        _sqlite(table, f"no_replace_{number}", "BEFORE INSERT", _is_there(table, columns))
        for table, keys in {**TABLES, PAYLOADS: (("entry_id",),)}.items()
        for number, columns in enumerate(keys)
    ]
    found.append(_sqlite(PAYLOADS, "no_update", "BEFORE UPDATE"))
    found += [
        _sqlite(table, "no_delete", "BEFORE DELETE", f"NOT {may_go}")
        for table, may_go in _MAY_GO.items()
    ]
    return found


def _sqlite(table: str, suffix: str, event: str, when: str = "") -> Trigger:
    name = f"{table}_{suffix}"
    condition = f" WHEN {when}" if when else ""
    return Trigger(
        name,
        table,
        f"CREATE TRIGGER {name} {event} ON {table}{condition} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
    )


def _is_there(table: str, columns: Collection[str]) -> str:
    same = [f"{column} = NEW.{column}" for column in columns]
    if columns == ("id",):
        # What NEW says before SQLite has chosen an id: a row of that number would stop all others.
        same.append("NEW.id <> -1")
    return f"EXISTS (SELECT 1 FROM {table} WHERE {' AND '.join(same)})"  # noqa: S608 - names of ours


# -- PostgreSQL ------------------------------------------------------------------------------------


def _unless(may_go: str) -> str:
    return (
        f" BEGIN IF NOT {may_go} THEN"
        " RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF; RETURN OLD; END "
    )


_FUNCTIONS = {
    "signoff_append_only": " BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END ",
    "signoff_erased_only": _unless(_MAY_GO[PAYLOADS]),
    "signoff_unsigned_only": _unless(_MAY_GO[LEAVES]),
}
_DELETED_BY = {PAYLOADS: "signoff_erased_only", LEAVES: "signoff_unsigned_only"}


def _search_path(connection: BaseDatabaseWrapper) -> str:
    """
    Where the functions look for tables: not first among the temporary ones of whoever deletes.

    PostgreSQL looks there first unless it is told otherwise, and everybody may make some.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(current_schema())")
        return f"pg_catalog, {cursor.fetchone()[0]}, pg_temp"


def _postgresql_triggers() -> list[Trigger]:
    found = [
        _postgresql(table, "append_only", "DELETE OR UPDATE OR TRUNCATE", "STATEMENT")
        for table in _never_deleted()
    ]
    for table, function in _DELETED_BY.items():
        suffix = function.removeprefix("signoff_")
        found.append(_postgresql(table, "append_only", "UPDATE OR TRUNCATE", "STATEMENT"))
        found.append(_postgresql(table, suffix, "DELETE", "ROW", function))
    return found


def _postgresql(
    table: str, suffix: str, events: str, each: str, function: str = "signoff_append_only"
) -> Trigger:
    name = f"{table}_{suffix}"
    # In the words of pg_get_triggerdef, with its order of events; then `tgenabled`: always.
    return Trigger(
        name,
        table,
        f"CREATE TRIGGER {name} BEFORE {events} ON {table} "
        f"FOR EACH {each} EXECUTE FUNCTION {function}() A",
    )
