"""After a restore: no careless answer executes what may have been executed since the backup."""

import pytest
from django.test import Client

from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.policies.reapply import reapply_policies
from inbox.actions.runs.restored_runs import stop_restored_run
from inbox.models import AuditEntry, Interrupt, Run
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.states import EntryStatus
from tests.support.policies.published import administrator, publish, rule, tool_is
from tests.support.steps import (
    APPROVE,
    DENY,
    approve,
    open_interrupts,
    reread,
    results,
    resumed_run,
    start,
)


def restored(run):
    """Treat the run as one of a database that a backup was restored into."""
    stop_restored_run(thread_id=run.thread_id)
    return open_interrupts(run)


def answer(row, actor, payload, *, despite_restore=False, status=EntryStatus.RESOLVED):
    return decide(
        interrupt_id=row.pk,
        status=status,
        payload=payload,
        view_digest=reread(row).shown_digest,
        actor=actor,
        entrance=Entrance.REST,
        despite_restore=despite_restore,
    )


def refuses(row, actor, payload, **more):
    with pytest.raises(errors.RestoreNotChecked):
        answer(row, actor, payload, **more)


@pytest.fixture
def half_decided(world, bob):
    """A run with two calls, of which the backup has an approval of the first."""
    run = start(world, "rehearse:parallel:2")
    approve(open_interrupts(run)[0], bob)
    (row,) = restored(run)
    return run, row


def test_a_once_call_runs_again_only_after_a_check(world, bob):
    run = start(world, "rehearse:effect:restored")
    (row,) = restored(run)

    refuses(row, bob, APPROVE)
    assert resumed_run(run) is None
    answer(row, bob, APPROVE, despite_restore=True)

    assert results(resumed_run(run))[0]["ok"] is True
    entry = AuditEntry.objects.get(action="interrupt.resolved", interrupt=row)
    assert entry.content["detail"]["despite_restore"] is True


def test_a_rejection_needs_no_check(world, bob):
    run = start(world, "rehearse:effect:rejected")
    (row,) = restored(run)

    answer(row, bob, DENY)

    assert results(resumed_run(run))[0]["denied"] is True


def test_a_rejection_that_lets_an_older_approval_run_needs_one(half_decided, bob):
    run, row = half_decided

    refuses(row, bob, DENY)
    refuses(row, bob, None, status=EntryStatus.CANCELLED)
    assert resumed_run(run) is None
    answer(row, bob, DENY, despite_restore=True)

    assert [item["ok"] for item in results(resumed_run(run))] == [True, False]


def test_each_open_request_of_a_run_needs_its_own_check(world, bob):
    run = start(world, "rehearse:parallel:2")
    first, second = restored(run)

    answer(first, bob, APPROVE, despite_restore=True)

    refuses(second, bob, APPROVE)
    assert reread(second).restored_at is not None


def test_an_expiry_lets_no_older_approval_run(half_decided, later):
    run, row = half_decided
    Interrupt.objects.filter(pk=row.pk).update(expires_at=row.created_at)

    expire_interrupts(thread_id=run.thread_id)

    resume = Run.objects.get(resumes=run)
    assert (resume.status, resume.error_code) == ("failed", "RESTORED")


def test_a_policy_that_allows_the_call_lets_it_not_run(world):
    run = start(world, "rehearse:tool_call")
    (row,) = restored(run)
    publish(world, rule("all", "allow", tool_is("send_email")))

    reapply_policies(team_id=world.team.pk, actor=administrator(world))

    resume = Run.objects.get(resumes=run)
    assert reread(row).status == "resolved"
    assert (resume.status, resume.error_code) == ("failed", "RESTORED")


def test_a_checked_approval_stays_so_when_another_one_expires(world, bob):
    run = start(world, "rehearse:parallel:2")
    first, second = restored(run)
    answer(first, bob, APPROVE, despite_restore=True)
    Interrupt.objects.filter(pk=second.pk).update(expires_at=second.created_at)

    expire_interrupts(thread_id=run.thread_id)

    assert results(resumed_run(run))[0]["ok"] is True


def test_requests_of_after_the_restore_need_no_check(world, bob):
    restored(start(world, "rehearse:tool_call"))
    (row,) = open_interrupts(start(world, "rehearse:tool_call"))

    approve(row, bob)

    assert reread(row).status == "resolved"


def test_the_flag_without_a_restore_changes_nothing(world, bob):
    (row,) = open_interrupts(start(world, "rehearse:tool_call"))

    answer(row, bob, APPROVE, despite_restore=True)

    entry = AuditEntry.objects.get(action="interrupt.resolved", interrupt=row)
    assert "despite_restore" not in entry.content["detail"]


def test_rest_names_the_restore_and_the_cure(world, bob_client_of):
    (row,) = restored(start(world, "rehearse:tool_call"))
    body = {"status": "resolved", "payload": APPROVE, "view_digest": reread(row).shown_digest}
    url = f"/api/interrupts/{row.pk}"

    refusal = bob_client_of(f"{url}/decide", body)

    assert (refusal.status_code, refusal.json()["code"]) == (409, "RESTORE_NOT_CHECKED")
    assert "despite_restore" in refusal.json()["detail"]
    assert bob_client_of(f"{url}/decide", {**body, "despite_restore": True}).status_code == 200


@pytest.fixture
def bob_client_of(world):
    client = Client()
    client.post("/login/", {"username": "bob", "password": "bob-password"})
    return lambda url, body: client.post(url, body, content_type="application/json")
