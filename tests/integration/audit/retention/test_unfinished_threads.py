"""Unfinished work that keeps an old thread from being deleted, each kind by itself."""

from uuid import UUID

import pytest

from inbox.actions.audit.thread_deletion import delete_if_old
from inbox.actions.people.members import change_team
from inbox.actions.policies.grants import revoke_grant
from inbox.actions.runs.start_run import start_run
from inbox.actions.webhooks.endpoints import add_webhook, change_webhook
from inbox.models import AgentRequest, Delivery, Grant, Notification, Run, Thread, ToolCall
from inbox.platform.clock import database_now
from inbox.rules.people.access import SEED
from tests.integration.policies.conftest import run_paying
from tests.support.notifications.subscribed import send_all, subscribe_person
from tests.support.policies.published import approve_with_grant
from tests.support.requests.programs import APPROVED, decide, program
from tests.support.steps import approve, open_interrupts, request, resumed_run, start

__all__ = ["program", "run_paying"]


@pytest.fixture
def is_deleted(world, later):
    """Return whether a thread is deleted that was idle for longer than its team keeps threads."""
    change_team(team_id=world.team.pk, thread_days=30, actor=SEED)

    def delete(thread_id):
        later(days=31)
        was_deleted = delete_if_old(thread_id=thread_id)
        assert Thread.objects.filter(pk=thread_id).exists() is not was_deleted
        return was_deleted

    return delete


@pytest.fixture
def run(world, bob):
    """A run whose request was approved and whose resume has ended."""
    run = start(world, "rehearse:tool_call")
    approve(open_interrupts(run)[0], bob)
    resumed_run(run)
    return run


def test_a_thread_without_unfinished_work_is_deleted(run, is_deleted):
    assert is_deleted(run.thread_id)


def test_a_queued_run_keeps_its_thread(world, run, is_deleted):
    message = request("rehearse:echo", thread_id=run.thread.external_id)
    start_run(agent=world.agent, request=message, actor=world.actor(world.alice))

    assert not is_deleted(run.thread_id)


def test_an_open_request_keeps_its_thread(world, is_deleted):
    assert not is_deleted(start(world, "rehearse:tool_call").thread_id)


@pytest.mark.parametrize("state", ["started", "in_doubt"])
def test_a_call_that_may_take_effect_keeps_its_thread(run, is_deleted, state):
    """The state is set by hand: the product has further unfinished rows beside it."""
    calls = ToolCall.objects.filter(thread=run.thread_id)
    calls.update(state=state, started_at=run.queued_at)

    assert not is_deleted(run.thread_id)


@pytest.fixture
def approved(program, bob):
    """An approved request of a program; its runs, which keep it as well, are ended by hand."""
    approved = program.ask()
    decide(approved, bob, APPROVED)
    now = database_now()
    Run.objects.exclude(finished_at__isnull=False).update(
        status="succeeded", finished_at=now, lease_until=None
    )
    return approved


def test_an_approved_call_that_may_start_keeps_its_thread(approved, is_deleted):
    AgentRequest.objects.update(status="done")  # which would keep it as well

    assert not is_deleted(UUID(approved["thread"]))


def test_a_request_that_is_decided_keeps_its_thread(approved, is_deleted):
    ToolCall.objects.update(start_before=None)  # which would keep it as well

    assert AgentRequest.objects.get().status == "decided"
    assert not is_deleted(UUID(approved["thread"]))


def webhook_of(world):
    webhook, _ = add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        event_types=["run.finished"],
        actor=SEED,
    )
    return webhook


def test_a_message_to_a_webhook_keeps_its_thread(world, is_deleted):
    webhook_of(world)
    run = start(world, "rehearse:echo")
    assert Delivery.objects.filter(thread=run.thread_id, status="pending").exists()

    assert not is_deleted(run.thread_id)


def test_a_message_to_a_disabled_webhook_keeps_nothing(world, is_deleted):
    webhook = webhook_of(world)
    run = start(world, "rehearse:echo")
    change_webhook(endpoint_id=webhook.pk, enabled=False, actor=SEED)
    assert Delivery.objects.filter(thread=run.thread_id, status="pending").exists()

    assert is_deleted(run.thread_id)


def test_a_mail_that_is_to_be_sent_keeps_the_thread(world, alice, bob, is_deleted):
    subscribe_person(alice, events=("decided",))
    run = start(world, "rehearse:tool_call", actor=alice)
    approve(open_interrupts(run)[0], bob)
    resumed_run(run)
    send_all()
    assert is_only(Notification.objects.filter(interrupt__thread=run.thread_id), status="sent")
    Notification.objects.update(status="pending")

    assert not is_deleted(run.thread_id)


def is_only(rows, **values):
    return rows.exists() and not rows.exclude(**values).exists()


@pytest.fixture
def granted(run_paying, bob):
    """A run that asked, and whose call was allowed for the agent."""
    run = run_paying({"amount": 1})
    (interrupt,) = open_interrupts(run)
    approve_with_grant(interrupt, bob, choices={"amount": "any"}, is_for_agent=True)
    resumed_run(run)
    return run


def test_a_grant_that_may_be_used_keeps_its_thread(granted, is_deleted):
    assert not is_deleted(granted.thread_id)


def test_a_grant_that_was_used_elsewhere_keeps_its_thread(granted, run_paying, is_deleted):
    used_by = run_paying({"amount": 2})
    resumed_run(used_by)
    assert used_by.thread_id != granted.thread_id
    revoke_grant(grant_id=Grant.objects.get().pk, actor=SEED)

    assert not is_deleted(granted.thread_id)
    assert is_deleted(used_by.thread_id)
    assert is_deleted(granted.thread_id)
    assert not Run.objects.exists()
