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


def test_a_temporary_table_does_not_make_payloads_erasable(as_the_application, committed_world):
    with transaction.atomic():
        execute("CREATE TEMP TABLE inbox_auditentry AS SELECT * FROM public.inbox_auditentry")
        execute("UPDATE pg_temp.inbox_auditentry SET erases_from = 1, erases_to = 9, seq = seq + 9")
        execute("INSERT INTO pg_temp.inbox_auditentry SELECT * FROM public.inbox_auditentry")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            execute("DELETE FROM public.inbox_auditpayload")
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    "harm",
    [
        "GRANT UPDATE ON inbox_event TO {role}",
        "GRANT DELETE ON inbox_comment TO {role}",
        "GRANT DELETE ON inbox_auditcheckpoint TO {role}",
        "GRANT TRUNCATE ON inbox_auditleaf TO {role}",
        "GRANT UPDATE ON inbox_auditpayload TO {role}",
        "GRANT UPDATE (hash) ON inbox_auditentry TO {role}",
        "GRANT TRIGGER ON inbox_auditentry TO {role}",
        "ALTER TABLE inbox_auditleaf OWNER TO {role}",
        "ALTER FUNCTION signoff_append_only OWNER TO {role}",
        "ALTER SCHEMA public OWNER TO {role}",
    ],
)
def test_every_way_to_change_history_is_warned_of(as_the_application, harm):
    execute("RESET ROLE")
    with transaction.atomic():
        execute(harm.format(role=ROLE))
        execute(f"SET LOCAL ROLE {ROLE}")
        assert append_only.may_change_history(connection)
        transaction.set_rollback(True)
    execute(f"SET ROLE {ROLE}")
    assert not append_only.may_change_history(connection)


def test_a_function_that_looks_elsewhere_is_told_of(committed_world):
    execute("ALTER FUNCTION signoff_erased_only RESET ALL")
    try:
        assert [code for code, _ in append_only.differences(connection)] == ["signoff.E003"]
    finally:
        append_only.install(connection)
    assert append_only.differences(connection) == []


def test_the_owner_is_warned(committed_world):
    from inbox.apps import check_role

    assert [one.id for one in check_role(databases=["default"])] == ["signoff.W001"]
