"""The times of notifications, and the people who fit a slot."""

from datetime import UTC, datetime, timedelta

import pytest

from inbox.rules.errors import InvalidValue
from inbox.rules.notifications.events import (
    check_subscription,
    due_at,
    fits_a_slot,
    next_message_at,
    retry_delay,
)
from inbox.rules.policies.language.policy import Slot
from inbox.rules.policies.slots import Person

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "mode", "minutes"),
    [
        ("opened", "if_waiting", 5),
        ("opened", "at_once", 0),
        ("reminded", "if_waiting", 0),
        ("escalated", "if_waiting", 0),
    ],
)
def test_only_new_requests_wait(kind, mode, minutes):
    assert due_at(kind, mode, 5, NOW) == NOW + timedelta(minutes=minutes)


def test_the_next_mail_waits_for_the_pause_or_the_end_of_the_hour():
    mails = [NOW + timedelta(minutes=number) for number in range(12)]

    assert next_message_at([], "email") is None
    assert next_message_at(mails[:1], "email") == NOW + timedelta(seconds=20)
    assert next_message_at(mails[:11], "email") == mails[10] + timedelta(seconds=20)
    assert next_message_at(mails, "email") == NOW + timedelta(hours=1)


def test_the_delay_after_failures_grows_to_ten_minutes():
    assert [retry_delay(failures).total_seconds() for failures in (1, 2, 3, 4, 99)] == [
        *(5, 30, 120, 600, 600)
    ]


def test_a_person_fits_the_slot_of_a_group_or_role():
    slots = [{Slot("group", "leads")}, {Slot("group", "legal"), Slot("role", "admin")}]

    assert fits_a_slot(Person("1", "viewer", frozenset({"leads"})), slots)
    assert fits_a_slot(Person("1", "admin"), slots)
    assert not fits_a_slot(Person("1", "reviewer", frozenset({"ops"})), slots)


def test_a_subscription_without_events_is_refused():
    with pytest.raises(InvalidValue, match="at least one event"):
        check_subscription(events=[], mode="at_once", minutes=5)
