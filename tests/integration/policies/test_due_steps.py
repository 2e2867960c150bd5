"""Reminders and escalations that a policy sets for open requests."""

from datetime import timedelta

import pytest

from inbox import sweeper
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.models import AuditEntry, Delivery, DueStep
from inbox.queries.policies.policies import next_steps
from inbox.rules.people.access import SEED
from tests.support.policies.published import publish, rule
from tests.support.steps import approve, open_interrupts, reread, start

REMIND = {"remind": ["PT10M", "PT20M"]}


@pytest.fixture
def ask_with(world):
    """Publish a rule with these requirements, and return an open interrupt."""

    def ask(**require):
        publish(world, rule("slow", "ask", require=require))
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        return interrupt

    return ask


def actions(interrupt):
    entries = AuditEntry.objects.filter(interrupt=interrupt).order_by("pk")
    kinds = ("interrupt.reminded", "interrupt.escalated")
    return [entry.action for entry in entries if entry.action in kinds]


def test_people_are_reminded_once_at_each_time(ask_with, later):
    interrupt = ask_with(**REMIND)

    later(minutes=9)
    sweeper.handle_due_steps()
    assert actions(interrupt) == []
    later(minutes=11)
    sweeper.handle_due_steps()
    sweeper.handle_due_steps()
    assert actions(interrupt) == ["interrupt.reminded"]
    later(minutes=21)
    sweeper.handle_due_steps()

    assert actions(interrupt) == ["interrupt.reminded"] * 2


def test_reminders_that_were_missed_are_one(ask_with, later):
    interrupt = ask_with(**REMIND)
    later(minutes=50)

    sweeper.handle_due_steps()

    assert actions(interrupt) == ["interrupt.reminded"]
    assert not DueStep.objects.filter(done_at=None)


def test_nobody_is_reminded_of_an_answered_request(ask_with, bob, later):
    interrupt = ask_with(**REMIND)
    approve(interrupt, bob)
    later(minutes=11)

    sweeper.handle_due_steps()

    assert actions(interrupt) == []
    assert not DueStep.objects.filter(done_at=None, number=1)


def test_an_expired_request_is_not_reminded_of(ask_with, later):
    interrupt = ask_with(**REMIND)
    later(minutes=70)

    sweeper.handle_due_steps()

    assert actions(interrupt) == []


def test_a_webhook_reports_a_reminder(world, ask_with, later):
    add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        event_types=["interrupt.reminded"],
        actor=SEED,
    )
    interrupt = ask_with(**REMIND)
    later(minutes=11)

    sweeper.handle_due_times()

    (message,) = Delivery.objects.all()
    assert (message.type, message.interrupt) == ("interrupt.reminded", interrupt)


def test_only_steps_to_come_are_shown(ask_with, bob):
    interrupt = ask_with(**REMIND)
    after = interrupt.created_at + timedelta(minutes=11)

    assert [step.number for step in next_steps(interrupt, after)] == [2]
    approve(interrupt, bob)
    assert next_steps(reread(interrupt), after) == []


def test_an_escalation_names_who_may_decide_too(ask_with, later):
    interrupt = ask_with(escalate=[{"after": "PT10M", "to": "role:admin"}])
    later(minutes=11)

    sweeper.handle_due_steps()
    sweeper.handle_due_steps()

    (entry,) = AuditEntry.objects.filter(interrupt=interrupt, action="interrupt.escalated")
    assert entry.content["detail"] == {"to": ["role:admin"], "rules": ["slow"]}
