"""What the database does by itself against those who change history."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from inbox.actions.audit.erasure import erase_thread
from inbox.models import (
    AuditCheckpoint,
    AuditEntry,
    AuditLeaf,
    AuditPayload,
    Comment,
    Event,
    PolicyVersion,
    Ruling,
    User,
)
from inbox.platform import append_only_triggers
from inbox.rules.people.access import SEED
from tests.support.audit.logs import verify

TABLES = (AuditEntry, AuditLeaf, AuditCheckpoint, Event)


def refused(change):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change()


@pytest.mark.parametrize("model", TABLES)
def test_nobody_updates_or_deletes_a_row(model, log):
    field = {AuditEntry: "action", AuditLeaf: "position", AuditCheckpoint: "note", Event: "type"}
    refused(lambda: model.objects.update(**{field[model]: "1"}))
    refused(lambda: model.objects.all()._raw_delete("default"))


@pytest.mark.parametrize("table", [*append_only_triggers.TABLES, append_only_triggers.PAYLOADS])
def test_the_ways_around_triggers_are_closed(table, log):
    around = {
        "sqlite": [f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"],
        "postgresql": [
            f"SET CONSTRAINTS ALL IMMEDIATE; TRUNCATE {table} CASCADE",
            f"SET LOCAL session_replication_role = replica; DELETE FROM {table}",
        ],
    }
    interrupt = AuditEntry.objects.exclude(interrupt=None).latest("pk").interrupt
    if table in ("inbox_policyversion", "inbox_ruling"):
        version = PolicyVersion.objects.create(
            team_id=interrupt.team_id, number=1, body="{}", published_at=interrupt.created_at
        )
        Ruling.objects.create(
            interrupt=interrupt,
            number=1,
            version=version,
            effect="ask",
            body="{}",
            created_at=interrupt.created_at,
        )
    if table == "inbox_comment":
        Comment.objects.create(
            interrupt=interrupt,
            user=User.objects.first(),
            text="well",
            created_at=interrupt.created_at,
        )
    for statement in around[connection.vendor]:
        refused(lambda statement=statement: execute(statement))


def test_a_payload_goes_only_once_an_entry_says_so(log, auditor):
    run = log[2]
    of_thread = AuditPayload.objects.filter(entry__chain=run.thread_id)
    refused(lambda: of_thread.update(text="{}"))
    refused(of_thread.delete)

    count = erase_thread(thread_id=run.thread_id, reason="by request", actor=SEED)

    assert count > 5
    (entry,) = of_thread
    assert json.loads(entry.text)["detail"] == {"reason": "by request"}
    assert verify(auditor)["verdict"] == "intact"
    assert erase_thread(thread_id=log[0].thread_id, reason="again", actor=SEED) in (0, 1)


def test_the_system_check_tells_what_is_not_installed(log):
    assert append_only_triggers.differences(connection) == []
    trigger = sorted(append_only_triggers.installed_protection(connection).triggers)[0]
    on = ""
    if connection.vendor == "postgresql":
        on = f" ON {trigger.table}"
        execute("SET CONSTRAINTS ALL IMMEDIATE")  # no table changes while one has to be checked
    execute(f"DROP TRIGGER {trigger.name}{on}")

    with pytest.raises(SystemCheckError, match=trigger.name):
        call_command("check", databases=["default"], stdout=StringIO())

    # As its hint says.
    call_command("migrate", "--skip-checks", verbosity=0)
    assert append_only_triggers.differences(connection) == []


def test_an_upgrade_may_change_what_is_installed(log):
    if connection.vendor == "postgresql":
        execute("SET CONSTRAINTS ALL IMMEDIATE")
    append_only_triggers.remove(connection)
    recorder = MigrationRecorder(connection)
    ((_, latest),) = MigrationLoader(connection).graph.leaf_nodes("inbox")
    recorder.record_unapplied("inbox", latest)
    try:
        output = StringIO()
        call_command("check", databases=["default"], stderr=output)
    finally:
        recorder.record_applied("inbox", latest)
        append_only_triggers.install(connection)

    assert "There are migrations to be applied" in output.getvalue()
    assert "A trigger is missing or changed: inbox_auditentry" in output.getvalue()


def execute(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
