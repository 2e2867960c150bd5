"""Starting and resuming: what the door to every run lets in."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.start_run import start_run
from inbox.models import AuditEntry, Run
from inbox.rules import errors
from tests.support import steps
from tests.support.steps import (
    APPROVE,
    DENY,
    entry,
    open_interrupts,
    request,
    start,
)


def accept(world, what, *, actor=None, **more):
    return start_run(agent=world.agent, request=what, actor=actor or world.actor(world.bob), **more)


@pytest.fixture
def waiting(world):
    return start(world, "rehearse:tool_call", thread_id="t1")


def test_a_thread_with_an_active_run_is_busy(world):
    accept(world, request("rehearse:echo", thread_id="t1"))

    with pytest.raises(errors.ThreadBusy):
        accept(world, request("rehearse:echo", thread_id="t1"))


def test_new_input_on_a_waiting_thread_is_refused(world, waiting):
    with pytest.raises(errors.PendingInterrupts):
        accept(world, request("rehearse:echo", thread_id="t1"))

    assert open_interrupts(waiting)


def test_a_resume_with_the_same_run_id_as_the_interrupted_run_is_accepted(world, waiting):
    (interrupt,) = open_interrupts(waiting)

    accepted = accept(
        world,
        request(thread_id="t1", run_id=waiting.external_id, entries=(entry(interrupt, APPROVE),)),
    )

    assert steps.drive(accepted).status == "succeeded"


@pytest.mark.parametrize("run_id", ["same", "other"])
def test_the_same_resume_again_runs_nothing_again(world, waiting, run_id):
    (interrupt,) = open_interrupts(waiting)
    answers = (entry(interrupt, APPROVE),)
    first = accept(world, request(thread_id="t1", run_id="same", entries=answers))
    steps.drive(first)

    again = accept(world, request(thread_id="t1", run_id=run_id, entries=answers))

    assert again.replayed
    assert again.run == first.run
    assert Run.objects.filter(resumes=waiting).count() == 1


def test_a_different_answer_after_the_resume_is_refused(world, waiting):
    (interrupt,) = open_interrupts(waiting)
    steps.drive(accept(world, request(thread_id="t1", entries=(entry(interrupt, APPROVE),))))

    with pytest.raises(errors.AlreadyDecided):
        accept(world, request(thread_id="t1", entries=(entry(interrupt, DENY),)))


def test_an_interrupt_of_another_thread_is_unknown(world, waiting):
    elsewhere = start(world, "rehearse:tool_call", thread_id="t2")
    (interrupt,) = open_interrupts(elsewhere)

    with pytest.raises(errors.UnknownInterrupt):
        accept(world, request(thread_id="t1", entries=(entry(interrupt, APPROVE),)))

    assert open_interrupts(elsewhere)


def test_a_partial_resume_is_refused_and_decides_nothing(world):
    run = start(world, "rehearse:parallel3", thread_id="t3")
    first, *_ = open_interrupts(run)

    with pytest.raises(errors.PartialResume):
        accept(world, request(thread_id="t3", entries=(entry(first, APPROVE),)))

    assert len(open_interrupts(run)) == 3


def test_a_resume_may_repeat_what_a_reviewer_has_decided_before(world, bob):
    run = start(world, "rehearse:parallel3", thread_id="t3")
    rows = open_interrupts(run)
    steps.approve(rows[0], bob)

    accepted = accept(
        world, request(thread_id="t3", entries=tuple(entry(row, APPROVE) for row in rows))
    )

    assert steps.drive(accepted).status == "succeeded"


def test_whoever_may_run_but_not_decide_may_not_resume(world, waiting, alice):
    (interrupt,) = open_interrupts(waiting)

    with pytest.raises(errors.Forbidden):
        accept(world, request(thread_id="t1", entries=(entry(interrupt, APPROVE),)), actor=alice)


def test_a_stranger_finds_no_agent(world, carol):
    with pytest.raises(errors.NotFound):
        accept(world, request("rehearse:echo"), actor=carol)

    assert not Run.objects.exists()


def test_a_rejected_resume_is_in_the_audit_trail(world, waiting):
    with pytest.raises(errors.UnknownInterrupt):
        accept(world, request(thread_id="t1", entries=(steps.ResumeEntry("x", "resolved", True),)))

    rejected = AuditEntry.objects.get(action="resume.rejected")
    assert rejected.thread == waiting.thread
    assert "UNKNOWN_INTERRUPT_ID" in rejected.payload.text


def test_the_same_idempotency_key_and_request_make_one_run(world):
    what = request("rehearse:echo", thread_id="t1")
    first = accept(world, what, idempotency_key="k1")
    steps.drive(first)

    again = accept(world, what, idempotency_key="k1")

    assert again.run == first.run
    assert again.replayed


def test_the_same_idempotency_key_with_another_request_is_refused(world):
    accept(world, request("rehearse:echo", thread_id="t1"), idempotency_key="k1")

    with pytest.raises(errors.IdempotencyConflict):
        accept(world, request("rehearse:error", thread_id="t1"), idempotency_key="k1")


def test_idempotency_keys_of_different_callers_do_not_meet(world, alice, bob):
    what = request("rehearse:echo", thread_id="t1")
    steps.drive(accept(world, what, idempotency_key="k1", actor=alice))

    other = accept(world, request("rehearse:echo"), idempotency_key="k1", actor=bob)

    assert not other.replayed


def test_a_queued_run_can_be_cancelled_and_its_stream_is_whole(world, alice):
    accepted = accept(world, request("rehearse:sleep:60"), actor=alice)

    cancel_run(run_id=accepted.run.pk, actor=alice)

    run = steps.reread(accepted.run)
    assert run.status == "cancelled"
    assert steps.event_types(run) == ["RUN_STARTED", "RUN_FINISHED"]
    assert steps.events(run.thread_id)[-1]["outcome"] == {"type": "cancelled"}


def test_cancelling_again_changes_nothing(world, alice):
    accepted = accept(world, request("rehearse:echo"), actor=alice)
    cancel_run(run_id=accepted.run.pk, actor=alice)

    cancel_run(run_id=accepted.run.pk, actor=alice)

    assert steps.audit_actions(accepted.run.thread).count("run.cancelled") == 1


def test_a_run_that_has_ended_cannot_be_cancelled(world, alice):
    run = start(world, "rehearse:echo")

    with pytest.raises(errors.RunEnded):
        cancel_run(run_id=run.pk, actor=alice)


def test_for_a_stranger_there_is_no_run_to_cancel(world, carol):
    run = start(world, "rehearse:echo")

    with pytest.raises(errors.NotFound):
        cancel_run(run_id=run.pk, actor=carol)


def test_a_cancelled_thread_takes_new_input(world, alice):
    accepted = accept(world, request("rehearse:sleep:60", thread_id="t1"))
    cancel_run(run_id=accepted.run.pk, actor=alice)

    assert start(world, "rehearse:echo", thread_id="t1").status == "succeeded"


@pytest.mark.parametrize("table", ["inbox_event", "inbox_auditentry"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET at = at", "DELETE FROM {}"])
def test_events_and_audit_entries_stay_as_they_were_written(world, waiting, table, statement):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():  # noqa: SIM117
        with connection.cursor() as cursor:
            cursor.execute(statement.format(table))


def test_a_payload_of_a_cancellation_makes_no_difference(world, waiting):
    (interrupt,) = open_interrupts(waiting)
    steps.drive(
        accept(world, request(thread_id="t1", entries=(entry(interrupt, "x", cancelled=True),)))
    )

    again = accept(world, request(thread_id="t1", entries=(entry(interrupt, cancelled=True),)))

    assert again.replayed


def test_a_resume_with_more_answers_takes_no_more_statements(world):
    def statements(number):
        run = start(world, f"rehearse:parallel:{number}")
        answers = [entry(interrupt, APPROVE) for interrupt in open_interrupts(run)]
        resume = request(thread_id=run.thread.external_id, entries=tuple(answers))
        with CaptureQueriesContext(connection) as queries:
            accept(world, resume)
        return len(queries)

    statements(2)  # what is cached afterwards

    assert statements(8) == statements(4)
