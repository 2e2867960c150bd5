"""Reminders and escalations while several processes sweep, and while people decide."""

from functools import partial

import pytest
from django.db.models import QuerySet

from inbox.actions.policies.due_steps import do_due_steps
from inbox.models import AuditEntry, DueStep
from tests.support import steps
from tests.support.policies.published import publish, rule
from tests.support.races.concurrently import Meeting, at_once, failures, rounds

pytestmark = pytest.mark.services


@pytest.fixture
def due_reminder(committed_world):
    """Return a function that opens an interrupt with a reminder that is due."""
    publish(committed_world, rule("slow", "ask", require={"remind": ["PT10M"]}))

    def ask():
        (interrupt,) = steps.open_interrupts(steps.start(committed_world, "rehearse:tool_call"))
        DueStep.objects.filter(done_at=None).update(due_at=interrupt.created_at)
        return interrupt

    return ask


def reminders(interrupt):
    entries = AuditEntry.objects.filter(interrupt=interrupt)
    return list(entries.order_by("pk").values_list("action", flat=True)).count("interrupt.reminded")


def test_two_sweepers_remind_once(due_reminder):
    for _ in range(rounds(short=20, long=200)):
        interrupt = due_reminder()
        remind = partial(do_due_steps, thread_id=interrupt.thread_id)

        assert failures(outcomes := at_once([remind, remind])) == []

        assert sorted(outcomes) == [0, 1]
        assert reminders(interrupt) == 1


def test_without_the_lock_two_sweepers_remind_twice(
    due_reminder, without_the_lock, without_the_trail, monkeypatch
):
    interrupt = due_reminder()
    meet_after_reading(monkeypatch)
    remind = partial(do_due_steps, thread_id=interrupt.thread_id)

    assert at_once([remind, remind]) == [1, 1]


def meet_after_reading(monkeypatch):
    """Let both sweepers read the steps before one of them has done any."""
    meeting, update = Meeting(2), QuerySet.update

    def meet_then_update(queryset, **values):
        if queryset.model is DueStep:
            meeting.wait()
        return update(queryset, **values)

    monkeypatch.setattr(QuerySet, "update", meet_then_update)


def test_nobody_is_reminded_after_the_decision(due_reminder, race_bob):
    for _ in range(rounds(short=20, long=200)):
        interrupt = due_reminder()
        remind = partial(do_due_steps, thread_id=interrupt.thread_id)

        assert failures(at_once([remind, partial(steps.approve, interrupt, race_bob)])) == []

        actions = list(
            AuditEntry.objects.filter(interrupt=interrupt)
            .order_by("pk")
            .values_list("action", flat=True)
        )
        if "interrupt.reminded" in actions:
            assert actions.index("interrupt.reminded") < actions.index("interrupt.resolved")
