"""
Databases of earlier versions: an upgrade keeps rows and triggers, on both databases.

`tests/support/upgrades/0046.*.sql` are dumps of a small site at the last of the separate
migrations: runs, a decision, a claim, a comment and a signed checkpoint.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import psycopg
import pytest

from tests.support.children import StartFailed
from tests.support.postgres import PostgresServer
from tests.support.processes import (
    REPOSITORY,
    embedded_environment,
    manage,
    scaled_environment,
)

DUMPS = REPOSITORY / "tests" / "support" / "upgrades"
PROTECTED = ("inbox_event", "inbox_comment", "inbox_auditentry", "inbox_auditcheckpoint")
RENAMED_TABLES = {
    "inbox_order": "inbox_idempotencyrecord",
    "inbox_sighting": "inbox_interruptview",
    "inbox_refusalcount": "inbox_rejectioncount",
    "inbox_auditcheck": "inbox_auditverification",
    "inbox_auditsink": "inbox_checkpointsink",
}
RENAMED_COLUMNS = {
    "inbox_order.made": "created_id",
    "inbox_unmasking.what": "value_set",
    "inbox_refusalcount.about": "subject_id",
    "inbox_refusalcount.tried": "action",
    "inbox_auditcheck.whole_at": "fully_verified_at",
    "inbox_auditcheck.reached": "verified_entries",
    "inbox_auditcheck.is_outside": "has_external_checkpoint",
    "inbox_endpoint.test": "test_report",
    "inbox_decision.payload_written": "original_payload",
    "inbox_decision.call_before": "tool_call_before",
    "inbox_toolcall.args_written": "original_args",
    "inbox_apikey.made_by": "created_by",
    "inbox_interrupt.shape": "similarity_key",
    "inbox_delivery.by_hand": "is_manual",
    "inbox_delivery.tries": "failed_attempts",
    "inbox_deliveryattempt.answer": "response",
}
#: The values of new columns in rows of the dump; SQLite has 0 and 1 for booleans.
NEW_COLUMNS = {
    "inbox_apikey": {
        "owner_id": None,
        "made_by_user_id": None,
        "networks": "[]",
        "former_made_by_user_id": None,
        "token_people": "[]",
        "former_people": "[]",
    },
    "inbox_agent": {
        "environment": "",
        "callback_prefixes": "[]",
        "paused_at": None,
        "pause_reason": "",
    },
    "inbox_decision": {
        "ruling_id": None,
        "grant_id": None,
        "grant_use": None,
        "override_reason": "",
    },
    "inbox_interrupt": {
        "people_needed": 1,
        "endorsed_payload": None,
        "files": None,
        "severity": "",
        "is_reversible": None,
        "restored_at": None,
    },
    "inbox_run": {
        "retriers": None,
        "pulled": False,
        "trace_context": "",
        "requester_people": None,
    },
    "inbox_thread": {"event_bytes": 0, "is_kept": False},
    "inbox_team": {
        "file_days": None,
        "thread_days": None,
        "session_idle_minutes": None,
        "session_hours": None,
        "required_sign_in": "any",
        "policy_version_id": None,
        "installation_version_id": None,
        "self_approval": True,
        "two_administrators": False,
        "messages_show_arguments": False,
        "stores_exceptions": False,
        "reject_reasons": '["Wrong amount", "Wrong recipient", "Not now", "Needs more detail"]',
        "override_group": "",
    },
    "inbox_toolcall": {
        "attempt": "",
        "lease_until": None,
        "start_before": None,
        "executed_args": None,
        "outcome": "",
        "late_report": None,
    },
    "inbox_delivery": {"url": ""},
    "inbox_webhookendpoint": {"agent_id": None, "owner_id": None},
    "inbox_invitation": {"owner_id": None},
    "inbox_user": {"hides_first_steps": False},
}
NEW_TABLES = (
    *("inbox_policydraft", "inbox_policyversion", "inbox_ruling", "inbox_duestep"),
    *("inbox_group", "inbox_groupmember", "inbox_grant", "inbox_endorsement"),
    *("inbox_announcement", "inbox_channel", "inbox_subscription", "inbox_notification"),
    *("inbox_notificationschedule", "inbox_chatidentity", "inbox_chatlinkcode"),
    *("inbox_decisionlink", "inbox_assignee", "inbox_snooze"),
    *("inbox_file", "inbox_storedblob"),
    "inbox_exportsignature",
    *("inbox_toolpresentation", "inbox_agenterror", "inbox_agentsession", "inbox_agentrequest"),
    *("inbox_workerheartbeat", "inbox_entrysink"),
    *("inbox_teamlimits", "inbox_teamuse"),
    *("inbox_directory", "inbox_directoryuser", "inbox_directorygroup"),
    "inbox_directorygroupmember",
)
#: The last migration of the version before, whose processes may still run during an upgrade.
VERSION_BEFORE = "0074_message_arguments"
KEYED_RUN = """
UPDATE inbox_run SET idempotency_key = 'key digest', request_digest = 'request digest'
WHERE id = (SELECT id FROM inbox_run ORDER BY id LIMIT 1)
"""


class Site(NamedTuple):
    """A database of its own, with what the product's commands need to find it."""

    vendor: str
    environment: dict[str, str]
    connect: Callable[[], Any]

    def query(self, statement: str) -> list[Any]:
        connection = self.connect()
        try:
            rows = connection.execute(statement).fetchall()
            connection.commit()
        finally:
            connection.close()
        return list(rows)

    def execute(self, statement: str) -> None:
        connection = self.connect()
        try:
            connection.execute(statement)
            connection.commit()
        finally:
            connection.close()

    def load_dump(self) -> None:
        script = (DUMPS / f"0046.{self.vendor}.sql").read_text()
        connection = self.connect()
        if self.vendor == "sqlite":
            connection.executescript(script)
        else:
            connection.execute(script)
            connection.commit()
        connection.close()

    def tables(self) -> list[str]:
        if self.vendor == "sqlite":
            names = "SELECT name FROM sqlite_master WHERE type = 'table'"
        else:
            names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        return sorted(name for (name,) in self.query(names) if name.startswith("inbox_"))

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of each table as dictionaries, in a stable order."""
        return {table: self.rows_of(table) for table in self.tables()}

    def rows_of(self, table: str) -> list[dict[str, Any]]:
        if self.vendor == "sqlite":
            names = f"SELECT name FROM pragma_table_info('{table}') ORDER BY name"
        else:
            names = (
                "SELECT quote_ident(column_name) FROM information_schema.columns "
                f"WHERE table_name = '{table}' ORDER BY column_name"
            )
        columns = [name for (name,) in self.query(names)]
        rows = self.query(f"SELECT {', '.join(columns)} FROM {table}")
        return sorted(
            (dict(zip(columns, map(_as_text, row), strict=True)) for row in rows), key=_row_key
        )

    def columns(self) -> dict[tuple[str, str], bool]:
        """Return for each table and column whether an INSERT may leave it out."""
        if self.vendor == "sqlite":
            rows = self.query(
                'SELECT m.name, c.name, c."notnull" = 0 OR c.dflt_value IS NOT NULL '
                "FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
            )
        else:
            rows = self.query(
                "SELECT table_name, column_name, is_nullable = 'YES' OR column_default IS NOT NULL "
                "FROM information_schema.columns WHERE table_schema = 'public'"
            )
        return {(table, name): bool(may_be_left_out) for table, name, may_be_left_out in rows}


def _as_text(value: Any) -> Any:
    """Return lists as SQLite stores them: as JSON text."""
    return json.dumps(value) if isinstance(value, list) else value


def _row_key(row: dict[str, Any]) -> str:
    return repr(row.get("id", sorted(row.items())))


def expected_rows(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a dump as the current version stores them."""
    rows = {
        RENAMED_TABLES.get(table, table): [
            {
                **{
                    RENAMED_COLUMNS.get(f"{table}.{name}", name): value
                    for name, value in row.items()
                },
                **NEW_COLUMNS.get(table, {}),
            }
            for row in rows
        ]
        for table, rows in tables.items()
    }
    for run in rows["inbox_run"]:
        key, request = run.pop("idempotency_key"), run.pop("request_digest")
        if key is not None:
            record = {"key_digest": key, "request_digest": request, "created_at": run["queued_at"]}
            rows["inbox_idempotencyrecord"].append(
                {"id": run["id"], "created_id": run["id"], **record}
            )
    return rows | {table: [] for table in NEW_TABLES}


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services)])
def make_site(request: Any, tmp_path: Any) -> Callable[[str], Site]:
    """Return a maker of empty databases of one vendor."""

    def make(name: str) -> Site:
        directory = tmp_path / name
        directory.mkdir()
        if request.param == "sqlite":
            path = directory / "signoff.sqlite3"
            return Site("sqlite", embedded_environment(directory), lambda: sqlite3.connect(path))
        url = request.getfixturevalue("postgres").create_database(name)
        environment = scaled_environment(
            directory, database_url=url, redis_url="redis://127.0.0.1:1"
        )
        return Site("postgresql", environment, lambda: psycopg.connect(url))

    return make


def schema_of(site: Site) -> list[str]:
    """Describe the tables of the product, whatever the order of their columns."""
    if site.vendor == "sqlite":
        columns = site.query(
            'SELECT m.name, c.name, upper(c.type), c."notnull", c.dflt_value, c.pk '
            "FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        )
        indexes = site.query("SELECT tbl_name, type, name, sql FROM sqlite_master WHERE sql > ''")
        checks = [
            (table, part)
            for table, kind, _, sql in indexes
            if kind == "table"
            for part in (*_constraints_of(sql), *_references_of(sql))
        ]
        rows = [*columns, *(row for row in indexes if row[1] != "table"), *checks]
    else:
        rows = [
            *site.query(
                "SELECT table_name, column_name, data_type, character_maximum_length, "
                "is_nullable, column_default FROM information_schema.columns "
                "WHERE table_schema = 'public'"
            ),
            # Automatic names of indexes have the name that the table had when it was made.
            *site.query(
                r"SELECT tablename, regexp_replace(indexdef, 'INDEX \S+_(pkey|key|like) ', '') "
                "FROM pg_indexes WHERE schemaname = 'public'"
            ),
            *site.query(
                "SELECT conrelid::regclass::text, pg_get_constraintdef(oid), condeferrable "
                "FROM pg_constraint WHERE connamespace = 'public'::regnamespace "
                "AND contype <> 'n'"
            ),
            *site.query(
                "SELECT c.relname, tgname FROM pg_trigger t "
                "JOIN pg_class c ON c.oid = tgrelid WHERE NOT tgisinternal"
            ),
        ]
    return sorted(_plain(repr(row)) for row in rows if str(row[0]).startswith("inbox_"))


def _plain(text: str) -> str:
    """Drop parentheses and casts: PostgreSQL writes them otherwise after a dump is restored."""
    return re.sub(r"::[a-z ]+(\[\])?|[()]", "", text)


def _constraints_of(sql: str) -> Iterator[str]:
    """Yield the named constraints of a table, which stand behind its columns."""
    for part in sql.split(' CONSTRAINT "')[1:]:
        yield part.removesuffix(")").rstrip(", ")


def _references_of(sql: str) -> list[str]:
    return sorted(part.split(",")[0].strip(") ") for part in sql.split(" REFERENCES ")[1:])


def migrations_of(site: Site) -> set[str]:
    rows = site.query("SELECT name FROM django_migrations WHERE app = 'inbox'")
    return {name for (name,) in rows}


def test_an_upgrade_keeps_rows_and_triggers(make_site):
    site = make_site("upgraded")
    site.load_dump()
    site.execute(KEYED_RUN)
    before = site.rows()

    manage(site.environment, "migrate", "--no-input")

    assert site.rows() == expected_rows(before)
    assert len(site.rows_of("inbox_idempotencyrecord")) == 1
    assert all(before[table] for table in PROTECTED)
    assert "0001_squashed_0046_team_headings" in migrations_of(site)
    manage(site.environment, "check", "--database", "default")
    for table in PROTECTED:
        with pytest.raises((sqlite3.Error, psycopg.Error), match="append-only"):
            site.execute(f"DELETE FROM {table}")


def test_an_upgraded_database_has_the_tables_of_a_new_one(make_site):
    upgraded, new = make_site("old"), make_site("new")
    upgraded.load_dump()

    for site in (upgraded, new):
        manage(site.environment, "migrate", "--no-input")

    assert schema_of(upgraded) == schema_of(new)
    assert migrations_of(upgraded) == migrations_of(new)


def test_the_version_before_can_write_to_the_new_schema(make_site):
    site = make_site("both")
    site.load_dump()
    manage(site.environment, "migrate", "inbox", VERSION_BEFORE)
    before = site.columns()

    manage(site.environment, "migrate", "--no-input")

    after, tables = site.columns(), {table for table, _ in before}
    assert ("inbox_interrupt", "severity") in after.keys() - before.keys()
    assert before.keys() <= after.keys()
    assert [
        column
        for column, may_be_left_out in after.items()
        if column not in before and column[0] in tables and not may_be_left_out
    ] == []


def test_migrate_refuses_a_database_from_before_the_squash(make_site):
    site = make_site("older")
    site.load_dump()
    site.execute("DELETE FROM django_migrations WHERE name = '0046_team_headings'")
    before = site.rows(), schema_of(site)

    with pytest.raises(StartFailed, match=r"older than the migration 0046.*docs/operations.md"):
        manage(site.environment, "migrate", "--no-input")

    assert (site.rows(), schema_of(site)) == before
