"""The application as a role of its own: it does its work, and cannot change history."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from agents.demo_agent import execution_counter
from inbox import engine, sweeper
from inbox.actions.audit.thread_deletion import delete_if_old
from inbox.actions.decisions.claims_and_comments import add_comment
from inbox.actions.people.members import change_team
from inbox.models import Thread
from inbox.platform import append_only_triggers
from inbox.rules.people.access import SEED
from inbox.transparency_log.reconciliation import reconcile
from tests.support.audit.logs import keep_in, verify, write_log
from tests.support.steps import approve, open_interrupts, start

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
    auditor = keep_in(settings, tmp_path)
    write_log(committed_world)

    assert (verify(auditor)["verdict"], verify(auditor)["findings"]) == ("intact", [])
    assert not append_only_triggers.may_change_history(connection)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE inbox_auditentry SET action = 'x'",
        "DELETE FROM inbox_auditentry",
        "UPDATE inbox_event SET type = 'x'",
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


def test_it_deletes_no_rows_of_threads_that_are_not_deleted(as_the_application, committed_world):
    (interrupt,) = open_interrupts(start(committed_world, "rehearse:tool_call"))
    bob = committed_world.actor(committed_world.bob)
    add_comment(interrupt_id=interrupt.pk, text="Who asks?", actor=bob)

    for table in ("inbox_event", "inbox_comment"):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            execute(f"DELETE FROM {table}")


def test_it_deletes_old_threads(as_the_application, committed_world):
    change_team(team_id=committed_world.team.pk, thread_days=30, actor=SEED)
    run = start(committed_world, "rehearse:echo")
    old = run.queued_at - timedelta(days=31)
    Thread.objects.filter(pk=run.thread_id).update(updated_at=old)

    assert delete_if_old(thread_id=run.thread_id)


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
        "GRANT UPDATE ON inbox_comment TO {role}",
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
        assert append_only_triggers.may_change_history(connection)
        transaction.set_rollback(True)
    execute(f"SET ROLE {ROLE}")
    assert not append_only_triggers.may_change_history(connection)


def test_a_function_that_looks_elsewhere_is_told_of(committed_world):
    execute("ALTER FUNCTION signoff_erased_only RESET ALL")
    try:
        assert [code for code, _ in append_only_triggers.differences(connection)] == [
            "signoff.E003"
        ]
    finally:
        append_only_triggers.install(connection)
    assert append_only_triggers.differences(connection) == []


def test_the_owner_is_warned(committed_world):
    from inbox.apps import check_role

    assert [warning.id for warning in check_role(databases=["default"])] == ["signoff.W001"]


#: What somebody with the application's role writes by hand, and where `audit_verify` finds it.
BY_HAND = {
    "the payload of the decision": (
        ['UPDATE inbox_decision SET payload = \'{"approved":true,"by":"hand"}\''],
        "decision",
    ),
    "the arguments": (
        ['UPDATE inbox_toolcall SET edited_args = \'{"to":"attacker"}\''],
        "tool_call",
    ),
    "the arguments and what the decision says of them": (
        [
            'UPDATE inbox_toolcall SET edited_args = \'{"to":"attacker"}\'',
            """UPDATE inbox_decision SET args_digest =
            encode(sha256('{"to":"attacker"}'::bytea), 'hex')""",
        ],
        "decision",
    ),
    "the interrupt": (
        ["UPDATE inbox_interrupt SET body = replace(body, 'tool_call', 'tool_cali')"],
        "decision",
    ),
    "everything together": (
        [
            """UPDATE inbox_interrupt
            SET args = '{"to":"attacker"}', view_digest = repeat('0', 64)""",
            "UPDATE inbox_toolcall SET args = '{\"to\":\"attacker\"}', verdict = 'approved'",
            """UPDATE inbox_decision SET args_digest = repeat('0', 64), signature = 'v1::0:0',
            view_digest = repeat('0', 64)""",
        ],
        "decision",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_rows_changed_by_hand_run_no_tool_and_are_found(as_the_application, committed_world, name):
    statements, found_at = BY_HAND[name]
    run = start(committed_world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    approve(interrupt, committed_world.actor(committed_world.bob))
    resume = type(run).objects.get(resumes=run)

    for statement in statements:
        execute(statement)
    engine.execute_run(resume.pk)

    resume.refresh_from_db()
    assert (resume.status, resume.error_code) == ("failed", "DECISION_NOT_VERIFIED")
    call = interrupt.tool_call
    assert execution_counter.count(run.thread.external_id, call.tool_call_id) == 0
    places = {finding.place for finding in reconcile()}
    assert found_at in places


def test_a_decision_made_by_hand_resumes_nothing_and_is_found(as_the_application, committed_world):
    run = start(committed_world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    execute(
        "INSERT INTO inbox_decision (id, interrupt_id, status, payload, view_digest, entrance, "
        "client_run_id, override_reason, unseen, actor_kind, actor_label, created_at, args_digest, "
        "signature) "
        f"VALUES (gen_random_uuid(), '{interrupt.pk}', 'resolved', '{{\"approved\":true}}', "
        f"'{interrupt.view_digest}', 'page', '', '', false, 'human', 'Bob', now(), '', '')"
    )
    execute("UPDATE inbox_interrupt SET status = 'resolved', closed_at = now()")
    execute(f"UPDATE inbox_run SET resume_at = now() WHERE id = '{run.pk}'")

    sweeper.sweep()

    resume = type(run).objects.get(resumes=run)
    assert (resume.status, resume.error_code) == ("failed", "DECISION_NOT_VERIFIED")
    assert any(finding.code == "decision_not_recorded" for finding in reconcile())


def test_an_audit_entry_cannot_be_changed_to_fit(as_the_application, committed_world):
    start(committed_world, "rehearse:tool_call")

    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
        execute("UPDATE inbox_auditentry SET action = 'interrupt.resolved'")
