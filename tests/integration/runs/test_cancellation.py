"""Cancelling an interrupted run: its requester takes the requests back, or a reviewer does."""

import json
from dataclasses import replace

import pytest
from django.test import Client

from inbox import engine
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.start_run import start_run
from inbox.models import AuditEntry, Decision, Run
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.states import EntryStatus
from tests.support import steps
from tests.support.audit.entries import audited
from tests.support.http.rest_client import Caller, key_with
from tests.support.steps import (
    APPROVE,
    approve,
    open_interrupts,
    start,
)

__all__ = ["key_with"]


@pytest.fixture
def waiting(world):
    """A run with three open interrupts, started by Alice, who may not decide."""
    return start(world, "rehearse:parallel3")


def statuses(run):
    return list(run.interrupts.order_by("position").values_list("status", flat=True))


def test_requester_cancels_all_open_interrupts_and_resumes_the_agent_once(waiting, alice):
    cancel_run(run_id=waiting.pk, actor=alice)

    assert statuses(waiting) == ["cancelled"] * 3
    (resume,) = Run.objects.filter(resumes=waiting)
    assert [entry["status"] for entry in json.loads(resume.resume)] == ["cancelled"] * 3
    assert {(row.entrance, row.user_id) for row in Decision.objects.all()} == {
        (Entrance.REQUESTER, alice.user_id)
    }
    entries = audited("interrupt.cancelled")
    assert [detail["entrance"] for _, detail in entries] == [Entrance.REQUESTER] * 3
    assert steps.resumed_run(waiting).status == "succeeded"


def test_decisions_made_before_the_cancellation_stay(waiting, alice, bob):
    approve(open_interrupts(waiting)[0], bob)

    cancel_run(run_id=waiting.pk, actor=alice)

    assert statuses(waiting) == ["resolved", "cancelled", "cancelled"]
    assert Run.objects.filter(resumes=waiting).count() == 1


def test_other_member_without_decide_cannot_cancel(waiting, vera):
    with pytest.raises(errors.Forbidden):
        cancel_run(run_id=waiting.pk, actor=vera)

    assert statuses(waiting) == ["open"] * 3


def test_claim_stops_reviewers_and_not_the_requester(waiting, alice, bob, dora):
    claim_interrupt(interrupt_id=open_interrupts(waiting)[0].pk, actor=bob)

    with pytest.raises(errors.Claimed):
        cancel_run(run_id=waiting.pk, actor=dora)
    assert statuses(waiting) == ["open"] * 3

    cancel_run(run_id=waiting.pk, actor=alice)
    assert statuses(waiting) == ["cancelled"] * 3


def test_reviewer_cancels_a_run_of_somebody_else(waiting, dora):
    cancel_run(run_id=waiting.pk, actor=dora, entrance=Entrance.CANCEL_PAGE)

    assert statuses(waiting) == ["cancelled"] * 3
    assert set(Decision.objects.values_list("entrance", flat=True)) == {Entrance.CANCEL_PAGE}


@pytest.mark.parametrize("first", ["alice", "bob", "key"])
@pytest.mark.parametrize("second", ["alice", "bob", "key"])
@pytest.mark.parametrize("is_inbox_only", [False, True])
def test_cancelling_again_changes_nothing_whoever_did_it_first(
    world, waiting, first, second, is_inbox_only
):
    cancel = {
        "alice": lambda: signed_in(world.alice).post(f"/runs/{waiting.pk}/cancel"),
        "bob": lambda: signed_in(world.bob).post(f"/runs/{waiting.pk}/cancel"),
        "key": lambda: Caller(world.key).post(f"/api/runs/{waiting.pk}/cancel"),
    }
    cancelled = {"alice": 303, "bob": 303, "key": 200}
    approve(open_interrupts(waiting)[0], world.actor(world.bob))
    assert cancel[first]().status_code == cancelled[first]
    steps.resumed_run(waiting)
    before = AuditEntry.objects.count()
    world.team.inbox_only = is_inbox_only
    world.team.save()

    again = cancel[second]()

    assert again.status_code == cancelled[second]
    assert AuditEntry.objects.count() == before
    assert statuses(waiting) == ["resolved", "cancelled", "cancelled"]
    assert Run.objects.filter(resumes=waiting).count() == 1


def test_run_whose_requests_were_cancelled_one_by_one_counts_as_cancelled(waiting, alice, bob):
    for interrupt in open_interrupts(waiting):
        steps.call_off(interrupt, bob)

    assert cancel_run(run_id=waiting.pk, actor=alice) == waiting
    assert Decision.objects.count() == 3


def test_run_with_cancelled_and_approved_requests_cannot_be_cancelled(waiting, alice, bob):
    """The run continues with what was approved, so no answer may say that it was cancelled."""
    first, second, third = open_interrupts(waiting)
    steps.call_off(first, bob)
    approve(second, bob)
    approve(third, bob)

    with pytest.raises(errors.RunEnded):
        cancel_run(run_id=waiting.pk, actor=alice)


def test_agui_client_cancels_again_what_the_page_has_cancelled(world, waiting, alice):
    entries = tuple(
        steps.entry(interrupt, cancelled=True) for interrupt in open_interrupts(waiting)
    )
    cancel_run(run_id=waiting.pk, actor=alice)
    before = AuditEntry.objects.count()

    again = resume(world, waiting, entries)

    assert again.replayed
    assert AuditEntry.objects.count() == before


def test_agui_client_repeats_the_cancellation_of_what_was_left_open(world, waiting, bob):
    approve(open_interrupts(waiting)[0], bob)
    entries = tuple(
        steps.entry(interrupt, cancelled=True) for interrupt in open_interrupts(waiting)
    )
    first = resume(world, waiting, entries)
    before = AuditEntry.objects.count()

    again = resume(world, waiting, entries)

    assert (again.run, again.replayed) == (first.run, True)
    assert AuditEntry.objects.count() == before


def test_agui_client_that_repeats_a_part_of_its_cancellation_is_refused(world, waiting):
    entries = tuple(
        steps.entry(interrupt, cancelled=True) for interrupt in open_interrupts(waiting)
    )
    resume(world, waiting, entries)

    with pytest.raises(errors.AlreadyDecided):
        resume(world, waiting, entries[:1])


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def resume(world, run, entries):
    sent = steps.request(thread_id=run.thread.external_id, entries=entries)
    return start_run(agent=world.agent, request=sent, actor=world.actor(world.bob))


def test_answered_run_cannot_be_cancelled(world, alice, bob):
    run = start(world, "rehearse:tool_call")
    approve(open_interrupts(run)[0], bob)

    with pytest.raises(errors.RunEnded):
        cancel_run(run_id=run.pk, actor=alice)


def test_requester_who_lost_the_run_permission_cannot_cancel(waiting, world, alice):
    world.alice.memberships.all().delete()

    with pytest.raises(errors.NotFound):
        cancel_run(run_id=waiting.pk, actor=alice)


@pytest.mark.parametrize("is_inbox_only", [False, True])
def test_key_without_decide_cancels_what_it_asked_and_nothing_else(
    world, waiting, key_with, is_inbox_only
):
    world.team.inbox_only = is_inbox_only
    world.team.save()
    machine = key_with("run", "read")
    body = {"agent": "rehearsal", "message": "rehearse:tool_call"}
    own = Run.objects.get(pk=machine.post("/api/runs", body).json()["id"])
    engine.execute_run(own.pk)

    others = machine.post(f"/api/runs/{waiting.pk}/cancel")
    answer = machine.post(f"/api/runs/{own.pk}/cancel")

    assert (others.status_code, others.json()["code"]) == (403, "FORBIDDEN")
    assert (answer.status_code, answer.json()["status"]) == (200, "interrupted")
    assert statuses(own) == ["cancelled"]


def test_key_cannot_cancel_where_the_team_decides_in_the_inbox(world, waiting):
    world.team.inbox_only = True
    world.team.save()

    answer = Caller(world.key).post(f"/api/runs/{waiting.pk}/cancel")

    assert (answer.status_code, answer.json()["code"]) == (409, "INBOX_ONLY")


def test_entrance_of_the_requester_is_refused_to_others(waiting, bob):
    """The gate checks who asked by itself, whatever its caller has checked."""
    from inbox.actions.decisions.decide import decide

    with pytest.raises(errors.Forbidden):
        decide(
            interrupt_id=open_interrupts(waiting)[0].pk,
            status=EntryStatus.CANCELLED,
            actor=bob,
            view_digest="",
            entrance=Entrance.REQUESTER,
        )


def test_resumes_and_retries_keep_the_requester(world, alice, bob):
    run = start(world, "rehearse:multi_step")
    approve(open_interrupts(run)[0], bob)
    resumed = steps.resumed_run(run)
    failed = start(world, "rehearse:error")
    retried = engine.retry_run(failed.pk, bob).run

    assert {run_.requester_user_id for run_ in (run, resumed, failed, retried)} == {alice.user_id}
    assert resumed.is_requested_by(alice)
    assert not resumed.is_requested_by(bob)
    assert not resumed.is_requested_by(replace(alice, user_id=None))
    cancel_run(run_id=resumed.pk, actor=alice)
    assert statuses(resumed) == ["cancelled"]


def test_parent_run_id_of_a_resume_is_kept_and_echoed(world, bob):
    run = start(world, "rehearse:tool_call", thread_id="t1")
    entries = (steps.entry(open_interrupts(run)[0], APPROVE),)
    sent = steps.request(thread_id="t1", entries=entries)

    resume = start_run(
        agent=world.agent, request=replace(sent, parent_run_id=run.external_id), actor=bob
    ).run
    engine.execute_run(resume.pk)

    assert steps.reread(resume).parent_external_id == run.external_id
    started = json.loads(resume.events.order_by("seq").first().body)
    assert started["parentRunId"] == run.external_id
