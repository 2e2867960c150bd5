"""Messages about closed requests and about expiry, and subscriptions to one saved view."""

from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.core import mail

from inbox import sweeper
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.notifications.subscriptions import subscribe
from inbox.actions.people.members import remove_member
from inbox.models import Announcement, Interrupt, Notification
from inbox.platform.clock import database_now
from inbox.rules.people.access import SEED
from tests.support.notifications.subscribed import EVERY_EVENT, send_all, subscribe_person
from tests.support.policies.published import publish, rule, tool_is
from tests.support.steps import approve, deny, open_interrupts, start

OWN = ("decided", "overruled")
TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}


@pytest.fixture
def ask(world):
    """Return a function that opens a request of a run that a person started."""
    return lambda actor, what="tool_call": open_interrupts(
        start(world, f"rehearse:{what}", actor=actor)
    )[0]


def subjects():
    return [message.subject for message in mail.outbox]


def test_requesters_are_told_of_the_decision(alice, bob, ask):
    subscribe_person(alice, events=OWN)  # a viewer
    approve(ask(alice), bob)

    send_all()

    (message,) = mail.outbox
    assert message.subject == "Approved: your request, rehearsal"
    assert "State: Bob approved, " in message.body


def test_a_rejection_says_so(alice, bob, ask):
    subscribe_person(alice, events=OWN)
    deny(ask(alice), bob)

    send_all()

    assert subjects() == ["Rejected: your request, rehearsal"]


def test_nobody_is_told_of_their_own_decision(bob, ask):
    subscribe_person(bob, events=OWN)
    approve(ask(bob), bob)

    send_all()

    assert not mail.outbox
    assert not Announcement.objects.filter(kind="decided").exists()


def test_several_decisions_are_one_mail(alice, bob, ask):
    subscribe_person(alice, events=OWN)
    for _ in range(3):
        approve(ask(alice), bob)

    send_all()

    assert subjects() == ["3 requests were closed"]


def test_a_decision_that_was_taken_back_is_not_told(world, alice, bob, ask):
    type(world.team).objects.update(grace_seconds=60)
    subscribe_person(alice, events=OWN)
    interrupt = ask(alice)
    approve(interrupt, bob)
    sweeper.send_notifications()

    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)
    send_all()

    assert not mail.outbox
    assert Notification.objects.get(announcement__kind="decided").why == "reopened"


def test_who_left_the_team_is_not_told_of_the_decision(world, alice, bob, ask):
    subscribe_person(alice, events=OWN)
    approve(ask(alice), bob)
    sweeper.send_notifications()

    remove_member(team_id=world.team.pk, user_id=alice.user_id, actor=SEED)
    send_all()

    assert not mail.outbox
    assert Notification.objects.get().why == "no_access"


def test_one_of_several_is_told_that_the_request_was_rejected(world, alice, bob, dora, ask):
    publish(world, rule("email", "ask", tool_is("send_email"), require=TWO))
    subscribe_person(bob, events=OWN)
    interrupt = ask(alice)
    approve(interrupt, bob)
    deny(interrupt, dora)

    send_all()

    assert subjects() == ["Rejected, although you had approved it: a request of rehearsal"]


def test_nobody_is_told_that_they_overruled_themselves(world, alice, bob, ask):
    publish(world, rule("email", "ask", tool_is("send_email"), require=TWO))
    subscribe_person(bob, events=OWN)
    interrupt = ask(alice)
    approve(interrupt, bob)
    deny(interrupt, bob)

    send_all()

    assert not mail.outbox


def test_an_approval_together_overrules_nobody(world, alice, bob, dora, ask):
    publish(world, rule("email", "ask", tool_is("send_email"), require=TWO))
    subscribe_person(bob, events=OWN)
    interrupt = ask(alice)
    approve(interrupt, bob)
    approve(interrupt, dora)

    send_all()

    assert not mail.outbox


def test_what_expires_soon_is_told_once(alice, bob, ask, later):
    subscribe_person(bob, events=("expiring",))
    interrupt = ask(alice)
    Interrupt.objects.filter(pk=interrupt.pk).update(
        expires_at=database_now() + django_settings.EXPIRY_NOTICE + timedelta(minutes=1)
    )
    sweeper.send_expiry_notices()
    send_all()
    assert not mail.outbox

    later(minutes=2)
    for _ in range(3):
        sweeper.send_expiry_notices()
        send_all()

    assert subjects() == ["Expires soon: rehearsal waits for a decision"]


@pytest.mark.parametrize(
    ("query", "is_told"),
    [
        ("tool=send_email", True),
        ("agent=rehearsal&tool=send_email", True),
        ("tool=refund", False),
        ("agent=other", False),
        ("team=other", False),
        ("reason=confirmation", False),
        ("q=ana", True),
        ("q=ana+zzz", False),
        ("state=decided&mine=1&expiring=1", True),  # these change while a request waits
    ],
)
def test_only_requests_of_the_saved_view_are_told(bob, alice, ask, query, is_told):
    subscribe_person(bob)
    subscribe(events=EVERY_EVENT, mode="at_once", minutes=5, language="en", only=query, actor=bob)
    Interrupt.objects.filter(pk=ask(alice).pk).update(search_text="mail to ana about a refund")

    send_all()

    assert bool(mail.outbox) is is_told


def test_an_urgent_request_does_not_wait(world, alice, bob, ask):
    publish(world, rule("email", "ask", tool_is("send_email"), require={"urgent": True}))
    subscribe_person(bob, mode="digest")
    ask(alice)

    send_all()

    assert subjects() == ["rehearsal waits for a decision"]
