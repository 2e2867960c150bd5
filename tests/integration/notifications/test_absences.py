"""People who are away: their deputies are told, and rights never move."""

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail

from inbox import sweeper
from inbox.actions.notifications.absences import decline_deputy, set_away
from inbox.actions.people.members import remove_member
from inbox.models import Interrupt, Membership, Notification
from inbox.platform.clock import database_now
from inbox.rules.errors import Forbidden, InvalidValue
from inbox.rules.people.access import SEED, Role
from tests.support.audit.entries import audited
from tests.support.notifications.subscribed import confirm_address, send_all, subscribe_person
from tests.support.steps import approve, open_interrupts, start


@pytest.fixture
def ask(world):
    """Return a function that opens a request that does not expire."""

    def open_request():
        (interrupt, *_) = open_interrupts(start(world, "rehearse:tool_call"))
        Interrupt.objects.filter(pk=interrupt.pk).update(expires_at=None)
        return interrupt

    return open_request


@pytest.fixture
def away(bob, dora):
    """Bob, who has subscribed, is away for a week, and Dora is his deputy."""
    subscribe_person(bob)
    confirm_address(dora)
    set_away(until=database_now() + timedelta(days=7), deputy=dora.user_id, actor=bob)


def recipients():
    return [message.to[0].split("@")[0] for message in mail.outbox]


def test_the_deputy_is_told_instead(away, bob, dora, ask):
    ask()

    send_all()

    assert recipients() == [str(dora.user_id)]
    (message,) = mail.outbox
    assert "You are the deputy of: Bob" in message.body
    assert "List-Unsubscribe" not in message.extra_headers


def test_after_the_last_day_the_person_is_told_again(away, bob, ask, later):
    later(days=8)
    ask()

    send_all()

    assert recipients() == [str(bob.user_id)]


def test_a_deputy_who_cannot_decide_leaves_it_to_the_person(world, away, bob, dora, ask):
    Membership.objects.filter(user=dora.user_id).update(role=Role.VIEWER)
    ask()

    send_all()

    assert recipients() == [str(bob.user_id)]


def test_a_deputy_without_an_address_leaves_it_to_the_person(away, bob, dora, ask):
    EmailAddress.objects.filter(user=dora.user_id).delete()
    ask()

    send_all()

    assert recipients() == [str(bob.user_id)]


def test_a_deputy_whose_mails_are_off_leaves_it_to_the_person(away, bob, dora, ask):
    channel = subscribe_person(dora, events=("reminded",))
    type(channel).objects.filter(pk=channel.pk).update(disabled_at=database_now())
    ask()

    send_all()

    assert recipients() == [str(bob.user_id)]


def test_a_deputy_who_is_told_anyway_stays_so_after_the_absence(away, bob, dora, ask):
    subscribe_person(dora)
    ask()
    sweeper.send_notifications()
    set_away(until=None, deputy=None, actor=bob)

    send_all()

    assert recipients() == [str(dora.user_id)]


def test_a_deputy_who_has_left_is_not_told(world, away, dora, ask):
    ask()
    sweeper.send_notifications()
    remove_member(team_id=world.team.pk, user_id=dora.user_id, actor=SEED)

    send_all()

    assert not mail.outbox
    assert Notification.objects.get().why == "no_access"


def test_without_a_deputy_nobody_is_told(bob, ask):
    subscribe_person(bob)
    set_away(until=database_now() + timedelta(days=7), deputy=None, actor=bob)
    ask()

    send_all()

    assert not mail.outbox


def test_a_deputy_who_is_told_anyway_gets_one_mail(away, dora, ask):
    subscribe_person(dora)
    ask()

    send_all()

    assert recipients() == [str(dora.user_id)]


def test_a_deputy_who_declines_is_not_told(away, bob, dora, ask):
    ask()
    sweeper.send_notifications()
    decline_deputy(user_id=bob.user_id, actor=dora)
    send_all()
    assert not mail.outbox
    assert Notification.objects.get().why == "no_deputy"

    ask()
    send_all()

    assert recipients() == [str(bob.user_id)]


def test_only_the_deputy_can_decline(away, bob, dora, alice, ask):
    decline_deputy(user_id=bob.user_id, actor=alice)
    ask()

    send_all()

    assert recipients() == [str(dora.user_id)]


def test_a_decided_request_is_dropped_for_the_deputy(away, dora, ask):
    interrupt = ask()
    sweeper.send_notifications()
    approve(interrupt, dora)

    send_all()

    assert not mail.outbox
    assert "closed" in {row.why for row in Notification.objects.all()}


def test_a_deputy_must_be_a_colleague_who_may_decide(bob, alice, carol):
    for person in (alice, carol, bob):  # a viewer, a stranger, the person
        with pytest.raises(InvalidValue):
            set_away(until=database_now() + timedelta(days=7), deputy=person.user_id, actor=bob)


def test_only_people_are_away(world):
    with pytest.raises(Forbidden):
        set_away(until=None, deputy=None, actor=SEED)


def test_a_change_is_audited_once(away, bob, dora):
    until = database_now() + timedelta(days=3)
    before = len(audited("subscription.changed"))

    set_away(until=until, deputy=dora.user_id, actor=bob)
    set_away(until=until, deputy=dora.user_id, actor=bob)

    assert len(audited("subscription.changed")) == before + 1
