"""Operating notifications: commands, metrics, and what the system switched off."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core import mail
from django.core.management import CommandError, call_command

from inbox.models import Announcement, Channel, Notification
from inbox.platform.clock import database_now
from inbox.queries.notifications.delivery_metrics import delivery_metrics
from inbox.queries.notifications.outages import switched_off_channels
from inbox.rules.errors import Forbidden
from inbox.rules.people.access import SEED
from tests.support.notifications.chat_server import run_chat_server
from tests.support.notifications.mail_server import run_mail_server
from tests.support.notifications.subscribed import add_team_chat, send_all, subscribe_person
from tests.support.steps import approve, open_interrupts, start


@pytest.fixture
def server(settings):
    with run_mail_server() as state:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", state.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_TIMEOUT = 2
        yield state


@pytest.fixture
def chat_server(settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    with run_chat_server() as state:
        yield state


def run(*arguments):
    output = StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue().strip()


def test_a_test_mail_says_that_the_server_accepted_it(db):
    assert run("notify_test", "--to", "ops@example.com") == "The server has accepted the message."

    (message,) = mail.outbox
    assert message.to == ["ops@example.com"]


def test_a_test_mail_says_what_the_server_answered(db, server):
    server.recipient = "550 no such mailbox"

    with pytest.raises(CommandError, match=r"refused.*550 no such mailbox"):
        run("notify_test", "--to", "ops@example.com")


def test_a_test_mail_says_that_there_is_no_server(db, server, settings):
    settings.EMAIL_PORT = 9

    with pytest.raises(CommandError, match=r"temporary.*ConnectionRefusedError"):
        run("notify_test", "--to", "ops@example.com")


def test_a_chat_is_added_and_tested_by_commands(world, chat_server):
    channel_id = run(
        *("add_channel", "slack", chat_server.url, "--team", world.team.slug, "--label", "#ops")
    )

    assert run("notify_test", "--channel", channel_id) == "The server has accepted the message."

    assert len(chat_server.bodies) == 1
    Channel.objects.update(disabled_at=database_now())
    with pytest.raises(CommandError, match="switched off"):
        run("notify_test", "--channel", channel_id)


def test_a_wrong_url_is_refused_by_the_command(world):
    with pytest.raises(CommandError):
        run("add_channel", "slack", "ftp://x", "--team", world.team.slug, "--label", "#ops")


def test_metrics_count_by_kind_and_status(world, bob, alice, chat_server, later):
    subscribe_person(bob)
    add_team_chat(world, chat_server.url)
    for number in range(3):
        later(minutes=number)
        open_interrupts(start(world, "rehearse:tool_call"))
        send_all()
    later(minutes=10)
    (*_, last) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(last, bob)
    send_all()

    by_kind = {row.kind: row for row in delivery_metrics(SEED, world.team.pk)}

    assert set(by_kind) == {"email", "slack"}
    assert (by_kind["email"].sent, by_kind["email"].failed) == (3, 0)
    assert by_kind["email"].median_seconds >= 0
    assert (
        by_kind["slack"].sent
        == Notification.objects.filter(channel__kind="slack", status="sent").count()
    )
    with pytest.raises(Forbidden):
        delivery_metrics(bob, world.team.pk)


def test_people_see_their_own_channel_that_was_switched_off(world, bob, dora):
    channel = subscribe_person(bob)
    assert switched_off_channels(bob.user_id, []) == []

    Channel.objects.filter(pk=channel.pk).update(
        disabled_at=database_now(), disabled_reason="refused"
    )

    assert switched_off_channels(bob.user_id, []) == [channel]
    assert switched_off_channels(dora.user_id, [world.team.pk]) == []


def test_a_chat_that_was_switched_off_by_hand_is_no_outage(world, chat_server):
    channel = add_team_chat(world, chat_server.url)
    Channel.objects.update(disabled_at=database_now(), disabled_reason="by_hand")
    assert switched_off_channels(None, [world.team.pk]) == []

    Channel.objects.update(disabled_reason="failing")

    assert switched_off_channels(None, [world.team.pk]) == [channel]


def test_without_a_sweeper_the_health_check_says_degraded(world, client):
    assert client.get("/healthz").json() == {"status": "ok"}

    Announcement.objects.create(kind="test", at=database_now() - timedelta(minutes=2))

    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "degraded"})
