"""Quiet hours and daily mails."""

from datetime import UTC, datetime, time, timedelta

import pytest
from django.core import mail

from inbox import sweeper
from inbox.actions.notifications.subscriptions import set_schedule
from inbox.models import AuditEntry, Interrupt, Notification
from inbox.platform import clock
from inbox.rules.notifications.schedule import Schedule
from tests.support.notifications.subscribed import send_all, subscribe_person
from tests.support.policies.published import publish, rule, tool_is
from tests.support.steps import approve, open_interrupts, start

NIGHT = datetime(2026, 12, 1, 23, 30, tzinfo=UTC)  # 00:30 in Berlin
MORNING = datetime(2026, 12, 2, 6, tzinfo=UTC)  # 07:00 in Berlin
QUIET = Schedule("Europe/Berlin", time(22), time(7), time(8, 30))


@pytest.fixture
def now(monkeypatch):
    """Return a function that sets the database's clock."""

    def set_to(at):
        monkeypatch.setattr(clock, "_read_clock", lambda: at)

    set_to(NIGHT)
    return set_to


@pytest.fixture
def ask(world):
    def open_request(expires_at=None):
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        Interrupt.objects.filter(pk=interrupt.pk).update(expires_at=expires_at)
        return interrupt

    return open_request


def due_times():
    return [row.due_at for row in Notification.objects.order_by("pk")]


def test_a_mail_of_the_quiet_hours_comes_in_the_morning(now, bob, ask):
    subscribe_person(bob)
    set_schedule(schedule=QUIET, actor=bob)
    ask()
    send_all()
    assert not mail.outbox
    assert due_times() == [MORNING]

    now(MORNING)
    send_all()

    assert len(mail.outbox) == 1


def test_what_was_decided_in_the_night_drops_out(now, bob, ask):
    subscribe_person(bob)
    set_schedule(schedule=QUIET, actor=bob)
    ask(), approve(ask(), bob)
    send_all()

    now(MORNING)
    send_all()

    (message,) = mail.outbox
    assert message.subject == "rehearsal waits for a decision"


def test_what_would_expire_in_the_night_goes_to_who_is_awake(now, bob, dora, ask):
    for person in (bob, dora):
        subscribe_person(person)
    set_schedule(schedule=QUIET, actor=bob)
    ask(expires_at=NIGHT + timedelta(hours=2))

    send_all()

    assert [message.to for message in mail.outbox] == [[f"{dora.user_id}@example.com"]]


def test_what_would_expire_in_the_night_of_all_is_sent_anyway(now, bob, dora, ask):
    for person in (bob, dora):
        subscribe_person(person)
        set_schedule(schedule=QUIET, actor=person)
    ask(expires_at=NIGHT + timedelta(hours=2))

    send_all()

    assert len(mail.outbox) == 2


def test_a_daily_mail_has_all_that_still_waits(now, bob, ask):
    subscribe_person(bob, mode="digest")
    set_schedule(schedule=QUIET, actor=bob)
    ask(), ask(), approve(ask(), bob)
    send_all()
    now(MORNING)
    send_all()
    assert not mail.outbox

    now(MORNING + timedelta(minutes=90))
    send_all()

    (message,) = mail.outbox
    assert message.subject == "2 requests wait for a decision"


def test_a_daily_mail_that_would_be_too_late_does_not_wait(now, bob, ask):
    subscribe_person(bob, mode="digest", minutes=5)
    now(MORNING + timedelta(hours=4))
    ask(expires_at=MORNING + timedelta(hours=9))

    send_all()

    assert due_times() == [MORNING + timedelta(hours=4, minutes=5)]


def test_reminders_do_not_wait_for_the_daily_mail(now, world, bob, ask):
    publish(world, rule("slow", "ask", require={"remind": ["PT10M"]}))
    subscribe_person(bob, mode="digest")
    ask()
    now(NIGHT + timedelta(minutes=11))
    sweeper.sweep()
    send_all()

    assert [message.subject for message in mail.outbox] == [
        "Reminder: rehearsal waits for a decision"
    ]


def test_quiet_hours_that_are_chosen_later_hold_for_what_waits(now, bob, ask):
    subscribe_person(bob, mode="if_waiting", minutes=30)
    ask()
    send_all()
    set_schedule(schedule=QUIET, actor=bob)
    now(NIGHT + timedelta(minutes=31))

    send_all()

    assert not mail.outbox
    assert due_times() == [MORNING]
    now(MORNING)
    send_all()
    assert len(mail.outbox) == 1


def test_an_urgent_request_is_told_in_the_night(now, world, bob, ask):
    publish(world, rule("email", "ask", tool_is("send_email"), require={"urgent": True}))
    subscribe_person(bob)
    set_schedule(schedule=QUIET, actor=bob)
    ask()

    send_all()

    assert len(mail.outbox) == 1
    assert due_times() == [NIGHT]


def test_a_change_is_audited_once(bob):
    for _ in range(2):
        set_schedule(schedule=QUIET, actor=bob)

    (entry,) = AuditEntry.objects.filter(action="subscription.changed")
    assert entry.content["detail"]["quiet_from"] == "22:00:00"
