"""Snoozes: what a person does not want to see until later."""

from datetime import timedelta

import pytest
from django.utils import timezone

from inbox.actions.decisions.assignees import assign_interrupt
from inbox.actions.decisions.claims_and_comments import add_comment, claim_interrupt
from inbox.actions.decisions.snoozes import end_snooze, snooze_interrupt
from inbox.models import Snooze
from inbox.queries.decisions.inbox_lists import counts_for, list_for
from inbox.rules import errors
from inbox.rules.decisions.list_filters import EXPIRING_SOON, InterruptFilter, Sort
from tests.support.steps import approve, open_interrupts, start


@pytest.fixture
def interrupt(world):
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


@pytest.mark.parametrize("filters", [{}, {"sort": Sort.NEW}, {"tool": "send_email"}], ids=str)
def test_snoozed_request_is_hidden_from_its_person_only(interrupt, bob, dora, filters):
    snooze(interrupt, bob)

    assert listed(bob, **filters) == []
    assert listed(dora, **filters) == [interrupt]
    assert listed(bob, snoozed=True) == [interrupt]
    assert counts_for(bob, now=timezone.now()).pending == 0


def test_snoozed_request_comes_back_in_time_or_shortly_before_it_expires(interrupt, bob):
    until = snooze(interrupt, bob).until
    expire_at(interrupt, until + timedelta(days=1))

    assert listed(bob, now=until - timedelta(seconds=1)) == []
    assert listed(bob, now=until) == [interrupt]
    expire_at(interrupt, until)
    assert listed(bob, now=until - EXPIRING_SOON - timedelta(seconds=1)) == []
    assert listed(bob, now=until - EXPIRING_SOON) == [interrupt]


@pytest.mark.parametrize("change", ["comment", "claim", "assign"])
def test_snoozed_request_comes_back_when_somebody_else_changes_it(interrupt, bob, dora, change):
    snooze(interrupt, bob)

    if change == "comment":
        add_comment(interrupt_id=interrupt.pk, actor=dora, text="Now?")
    elif change == "claim":
        claim_interrupt(interrupt_id=interrupt.pk, actor=dora)
    else:
        assign_interrupt(interrupt_id=interrupt.pk, user_id=bob.user_id, actor=dora)

    assert listed(bob) == [interrupt]


def test_own_comment_leaves_a_request_snoozed(interrupt, bob):
    snooze(interrupt, bob)

    add_comment(interrupt_id=interrupt.pk, actor=bob, text="Later.")

    assert listed(bob) == []


def test_snooze_is_changed_and_ended(interrupt, bob):
    snooze(interrupt, bob)
    snooze(interrupt, bob, timedelta(days=2))
    assert Snooze.objects.count() == 1

    for _ in range(2):
        end_snooze(interrupt_id=interrupt.pk, actor=bob)

    assert listed(bob) == [interrupt]


@pytest.mark.parametrize(
    "time", [timedelta(0), timedelta(seconds=-1), timedelta(days=366)], ids=str
)
def test_snooze_needs_a_time_in_the_next_year(interrupt, bob, time):
    with pytest.raises(errors.InvalidValue):
        snooze(interrupt, bob, time)


def test_only_open_requests_of_own_teams_can_be_snoozed(interrupt, bob, carol):
    with pytest.raises(errors.NotFound):
        snooze(interrupt, carol)
    approve(interrupt, bob)
    with pytest.raises(errors.AlreadyDecided):
        snooze(interrupt, bob)


def snooze(interrupt, actor, time=timedelta(hours=3)):
    return snooze_interrupt(interrupt_id=interrupt.pk, until=timezone.now() + time, actor=actor)


def listed(actor, now=None, **filters):
    return list(list_for(actor, InterruptFilter(**filters), now=now or timezone.now()).rows)


def expire_at(interrupt, at):
    type(interrupt).objects.filter(pk=interrupt.pk).update(expires_at=at, due_at=at)
