"""The application as a role of its own: it does its work, and cannot change history."""

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from inbox import append_only
from tests.audit.logs import keep_in, verify, write_log

ROLE = "signoff_application"


@pytest.fixture
def as_the_application(committed_world):
    for _ in range(2):  # safe to replay
        call_command("grant_application", ROLE)
    execute(f"SET ROLE {ROLE}")
    yield
    execute("RESET ROLE")
    execute(f"DROP OWNED BY {ROLE}")
    execute(f"DROP ROLE {ROLE}")


def execute(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_it_runs_decides_seals_erases_and_verifies(
    as_the_application, committed_world, settings, tmp_path
):
    kept = keep_in(settings, tmp_path)
    write_log(committed_world)

    assert (verify(kept)["verdict"], verify(kept)["findings"]) == ("intact", [])
    assert not append_only.may_change_history(connection)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE inbox_auditentry SET action = 'x'",
        "DELETE FROM inbox_event",
        "TRUNCATE inbox_auditleaf",
        "UPDATE inbox_auditpayload SET text = '{}'",
        "ALTER TABLE inbox_auditentry DISABLE TRIGGER ALL",
        "DROP TRIGGER inbox_auditentry_append_only ON inbox_auditentry",
        "SET session_replication_role = replica",
    ],
)
def test_it_cannot_change_history_nor_what_protects_it(as_the_application, statement):
    with (
        pytest.raises(DatabaseError, match=r"permission denied|must be owner"),
        transaction.atomic(),
    ):
        execute(statement)


def test_the_owner_is_warned(committed_world):
    from inbox.apps import check_role

    assert [one.id for one in check_role(databases=["default"])] == ["signoff.W001"]
