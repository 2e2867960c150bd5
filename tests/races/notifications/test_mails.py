"""Workers that send the mails of one channel, and sweepers that expand announcements."""

from datetime import timedelta
from functools import partial

import pytest

from inbox.actions.notifications import due_notifications
from inbox.actions.notifications.announcements import announce_expiry
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.notifications.messages import claim_message
from inbox.models import Announcement, Channel, Interrupt, Notification
from inbox.platform.clock import database_now
from tests.support.notifications.subscribed import subscribe_person
from tests.support.races.concurrently import Meeting, at_once, failures, rounds
from tests.support.steps import start

pytestmark = pytest.mark.services


def test_two_workers_claim_one_mail(committed_world, race_bob):
    channel = subscribe_person(race_bob)
    for _ in range(rounds(short=10, long=200)):
        start(committed_world, "rehearse:tool_call")
        expand_announcements()
        claim = partial(claim_message, channel_id=channel.pk)

        assert failures(outcomes := at_once([claim] * 4)) == []

        assert len([mail for mail in outcomes if mail]) == 1
        Notification.objects.update(status="sent", settled_at=database_now())
        Channel.objects.update(lease_until=None, next_try_at=None)


def test_without_the_lock_two_workers_claim_the_same_mail(
    committed_world, race_bob, without_the_lock, monkeypatch
):
    channel = subscribe_person(race_bob)
    start(committed_world, "rehearse:tool_call")
    expand_announcements()
    read_then_meet = Meeting(2).after(due_notifications._due_rows)
    monkeypatch.setattr(due_notifications, "_due_rows", read_then_meet)

    outcomes = at_once([partial(claim_message, channel_id=channel.pk)] * 2)

    assert len([mail for mail in outcomes if mail]) == 2


def test_two_sweepers_expand_an_announcement_once(committed_world, race_bob):
    subscribe_person(race_bob)
    for number in range(1, rounds(short=10, long=200) + 1):
        start(committed_world, "rehearse:tool_call")

        assert failures(at_once([expand_announcements] * 2)) == []

        assert Notification.objects.count() == number


def test_two_sweepers_announce_an_expiry_once(committed_world):
    for number in range(1, rounds(short=10, long=200) + 1):
        start(committed_world, "rehearse:tool_call")
        Interrupt.objects.filter(status="open").update(
            expires_at=database_now() + timedelta(minutes=1)
        )

        assert failures(at_once([announce_expiry] * 3)) == []

        assert Announcement.objects.filter(kind="expiring").count() == number
