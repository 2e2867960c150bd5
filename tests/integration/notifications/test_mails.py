"""Mails about requests: who gets one, when, and what becomes of it."""

import pytest
from django.core import mail
from django.test import Client

from inbox import sweeper
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.notifications.messages import SendResult, claim_message
from inbox.actions.notifications.subscriptions import unsubscribe
from inbox.actions.people.members import remove_member
from inbox.models import Announcement, Channel, Notification, Team
from inbox.rules.people.access import SEED
from inbox.sending import notification_sender
from tests.support.notifications.mail_server import run_mail_server
from tests.support.notifications.subscribed import confirm_address, send_all, subscribe_person
from tests.support.policies.published import publish, rule, tool_is, up_to
from tests.support.policies.refunds import proposals
from tests.support.steps import approve, open_interrupts, reread, start


@pytest.fixture
def server(settings):
    with run_mail_server() as state:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", state.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_TIMEOUT = 2
        yield state


def states():
    rows = Notification.objects.order_by("pk")
    return [(row.status, row.why) for row in rows]


def test_a_subscriber_gets_one_mail_about_a_new_request(world, bob, ask, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    subscribe_person(bob)
    interrupt = ask()

    send_all()
    send_all()

    (message,) = mail.outbox
    link = f"https://signoff.example.com/interrupts/{interrupt.pk}/"
    assert message.to == [f"{bob.user_id}@example.com"]
    assert message.subject == "rehearsal waits for a decision"
    assert link in message.body
    assert link in message.alternatives[0][0]
    headers = message.extra_headers
    assert headers["Auto-Submitted"] == "auto-generated"
    assert str(interrupt.pk) in headers["References"]
    assert headers["List-Unsubscribe"].startswith("<https://signoff.example.com/unsubscribe/")
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert states() == [("sent", "")]


def test_nobody_gets_mail_without_asking_for_it(bob, ask):
    confirm_address(bob)
    ask()

    send_all()

    assert not mail.outbox
    assert Announcement.objects.exclude(expanded_at=None).count() == 1


def test_people_who_may_not_decide_get_no_mail(world, alice, carol, ask):
    subscribe_person(alice)  # a viewer of the team
    subscribe_person(carol)  # of another team
    ask()

    send_all()

    assert not Notification.objects.exists()


def test_what_the_policy_answers_is_not_announced(world, bob, as_agent):
    subscribe_person(bob)
    publish(world, rule("small", "allow", tool_is("refund"), up_to(50)))

    start(world, "go", agent=as_agent(proposals([{"amount": 35}])))

    assert not Announcement.objects.exclude(interrupt=None).exists()


def test_requesters_get_no_mail_about_what_they_may_not_approve(world, bob, dora):
    subscribe_person(bob)
    subscribe_person(dora)
    Team.objects.filter(pk=world.team.pk).update(self_approval=False)
    start(world, "rehearse:tool_call", actor=bob)

    send_all()

    assert [message.to for message in mail.outbox] == [[f"{dora.user_id}@example.com"]]


def test_by_default_a_mail_is_sent_after_five_minutes_of_waiting(bob, ask, later):
    subscribe_person(bob, mode="if_waiting")
    ask()

    later(minutes=4)
    send_all()
    assert not mail.outbox
    later(minutes=6)
    send_all()

    assert len(mail.outbox) == 1


def test_a_request_decided_before_is_dropped(bob, ask, later):
    subscribe_person(bob, mode="if_waiting")
    interrupt = ask()
    send_all()
    approve(interrupt, bob)
    later(minutes=6)

    send_all()

    assert not mail.outbox
    assert states() == [("dropped", "closed")]


def test_a_request_that_another_person_claimed_is_dropped(bob, dora, ask, later):
    subscribe_person(bob, mode="if_waiting", minutes=1)
    interrupt = ask()
    send_all()
    claim_interrupt(interrupt_id=interrupt.pk, actor=dora)
    later(minutes=2)

    send_all()

    assert states() == [("dropped", "claimed")]


def test_a_person_who_left_the_team_gets_no_mail(world, bob, ask, later):
    subscribe_person(bob, mode="if_waiting")
    ask()
    send_all()
    remove_member(team_id=world.team.pk, user_id=bob.user_id, actor=SEED)
    later(minutes=6)

    send_all()

    assert states() == [("dropped", "no_access")]


def test_an_unsubscribed_person_gets_no_mail(bob, ask, later):
    subscribe_person(bob, mode="if_waiting")
    ask()
    send_all()
    unsubscribe(actor=bob)
    later(minutes=6)

    send_all()

    assert not mail.outbox
    assert states() == [("dropped", "unsubscribed")]


def test_requests_of_a_burst_are_two_mails(bob, ask, later):
    subscribe_person(bob)
    ask()
    send_all()
    for _ in range(5):
        ask()
    send_all()
    assert len(mail.outbox) == 1
    later(seconds=21)

    send_all()

    assert [message.subject for message in mail.outbox[1:]] == ["5 requests wait for a decision"]
    assert {status for status, _ in states()} == {"sent"}


def test_after_twelve_mails_in_an_hour_the_rest_waits(bob, ask, later):
    subscribe_person(bob)
    for number in range(13):
        later(seconds=30 * number)
        ask()
        send_all()
    assert len(mail.outbox) == 12
    later(minutes=61)

    send_all()

    assert len(mail.outbox) == 13


def test_reminders_are_mailed_at_once(world, bob, later):
    subscribe_person(bob, mode="if_waiting", minutes=600)
    publish(world, rule("slow", "ask", require={"remind": ["PT10M"]}))
    start(world, "rehearse:tool_call")
    later(minutes=11)
    sweeper.handle_due_steps()

    send_all()

    assert [message.subject for message in mail.outbox] == [
        "Reminder: rehearsal waits for a decision"
    ]


def test_a_mail_is_in_the_language_of_its_reader(bob, ask):
    subscribe_person(bob, language="de")
    ask()

    send_all()

    (message,) = mail.outbox
    assert message.subject == "rehearsal wartet auf eine Entscheidung"
    assert 'lang="de"' in message.alternatives[0][0]


def test_hostile_names_become_no_line_link_or_header(bob, ask, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    subscribe_person(bob)
    interrupt = ask()
    tool = "a\r\nBcc: eve@example.com\n\n<a href='https://evil.example'>\u202eok</a>" * 2
    type(interrupt).objects.filter(pk=interrupt.pk).update(tool=tool[:200])

    send_all()

    (message,) = mail.outbox
    page = message.alternatives[0][0]
    assert "\nBcc" not in message.body
    assert "\u202e" not in message.body + page
    assert "<a href='https://evil" not in page
    assert page.count("<a ") == 2  # the request, and the end of these mails
    assert message.message()["Bcc"] is None


def test_arguments_are_not_in_a_mail(world, bob):
    subscribe_person(bob)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    send_all()

    text = mail.outbox[0].body + mail.outbox[0].alternatives[0][0]
    assert interrupt.args
    assert interrupt.title not in text
    assert interrupt.message not in text or not interrupt.message


def test_a_busy_server_gets_the_same_mail_again(bob, ask, server, later):
    subscribe_person(bob)
    ask()
    server.recipient = "451 try again later"
    send_all()
    assert states() == [("pending", "")]
    assert Channel.objects.get().answer == "451 try again later"
    first_id = Notification.objects.get().message_id
    later(seconds=6)
    server.recipient = "250 ok"

    send_all()

    assert states() == [("sent", "")]
    assert Notification.objects.get().message_id == first_id
    assert f"<{first_id}@" in server.mails[0]


def test_a_refused_address_is_switched_off_after_a_day(bob, ask, server, later):
    channel = subscribe_person(bob)
    server.recipient = "550 no such user"
    for hours in (0, 12, 25):
        later(hours=hours)
        ask()
        assert reread(channel).disabled_at is None
        send_all()

    assert states() == [("failed", "refused")] * 3
    assert reread(channel).disabled_at is not None


@pytest.mark.parametrize("answer", ["", "451 no space"])
def test_a_mail_that_breaks_off_in_data_is_sent_again(bob, ask, server, later, answer):
    subscribe_person(bob)
    ask()
    server.data = answer
    send_all()
    assert states() == [("pending", "")]
    server.data = "250 ok"
    later(seconds=6)

    send_all()

    assert states() == [("sent", "")]
    assert len(server.mails) == 1


def test_a_server_that_is_away_never_switches_an_address_off(bob, ask, settings, later):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    channel = subscribe_person(bob)
    ask()
    for hours in (0, 1, 2, 20, 30):
        later(hours=hours)
        send_all()

    assert states() == [("pending", "")]
    assert reread(channel).disabled_at is None
    assert reread(channel).failures == 5


def test_a_server_without_tls_gets_no_mail(bob, ask, server, settings):
    settings.EMAIL_USE_TLS = True
    subscribe_person(bob)
    ask()

    send_all()

    assert states() == [("pending", "")]
    assert Channel.objects.get().answer == "SMTPNotSupportedError"
    assert server.mails == []


def test_a_silent_server_is_given_up_and_tried_again(bob, ask, server, settings, later):
    settings.EMAIL_TIMEOUT = 0.3
    server.is_silent = True
    subscribe_person(bob)
    ask()
    send_all()
    assert states() == [("pending", "")]
    assert Channel.objects.get().answer == "SMTPServerDisconnected"
    server.is_silent = False
    later(seconds=6)

    send_all()

    assert states() == [("sent", "")]


@pytest.mark.parametrize(("is_active", "seconds"), [(True, 60), (False, 0)])
def test_people_who_use_the_inbox_are_told_a_minute_later(world, bob, ask, is_active, seconds):
    subscribe_person(bob)
    if is_active:
        client = Client()
        assert client.post("/login/", {"username": "bob", "password": "bob-password"}).url
        assert client.get("/").status_code == 200
    ask()

    send_all()

    row = Notification.objects.get()
    assert (row.due_at - row.announcement.at).total_seconds() == seconds


def test_after_a_crash_the_same_mail_is_sent_again(bob, ask, later, monkeypatch):
    subscribe_person(bob)
    ask()

    def die(**_):
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(notification_sender, "record_message", die)
        with pytest.raises(SystemExit):
            send_all()
    later(seconds=100)
    ask()  # in a mail of its own
    send_all()

    first, again = mail.outbox
    assert first.extra_headers["Message-ID"] == again.extra_headers["Message-ID"]
    assert first.body == again.body


def test_a_late_worker_records_nothing(bob, ask, later):
    channel = subscribe_person(bob)
    ask()
    sweeper.send_notifications()
    slow = claim_message(channel_id=channel.pk)
    later(seconds=100)
    assert claim_message(channel_id=channel.pk)

    assert not notification_sender.record_message(message=slow, result=SendResult())
    assert states() == [("pending", "")]


def test_old_notifications_are_deleted(bob, ask, later):
    from inbox.actions.notifications.announcements import delete_old_announcements

    subscribe_person(bob)
    ask()
    send_all()
    later(days=31)

    delete_old_announcements()

    assert not Announcement.objects.exclude(interrupt=None).exists()
    assert not Notification.objects.exists()
