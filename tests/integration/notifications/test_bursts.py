"""Many requests at once: few messages, and few queries for each."""

from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.people.provisioning import add_member
from inbox.models import Channel, Notification
from inbox.platform import clock
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.people.access import SEED, Role
from inbox.sending.notification_sender import send_due
from tests.support.limits import limit_teams
from tests.support.notifications.chat_server import run_chat_server
from tests.support.notifications.subscribed import add_team_chat, send_all, subscribe_person
from tests.support.policies.refunds import proposals
from tests.support.steps import start

MEMBERS, SECONDS, EACH_SECOND = 20, 10, 50


@pytest.fixture
def people(world):
    """Members who get a mail about every request at once."""
    for number in range(MEMBERS):
        user = add_member(
            team=world.team,
            username=f"person{number}",
            full_name=f"Person {number}",
            password="a-long-password",
            role=Role.REVIEWER,
            actor=SEED,
        )
        subscribe_person(actor_of_user(user))


@pytest.fixture
def at_second(monkeypatch):
    """Set the database's clock to a second of the burst, however long the test itself takes."""
    begun = clock.database_now()

    def set_clock(second):
        monkeypatch.setattr(clock, "_read_clock", lambda: begun + timedelta(seconds=second))

    return set_clock


def test_a_burst_is_few_messages_and_nothing_is_lost(world, people, as_agent, at_second, settings):
    """500 requests within 10 seconds; 20 people and a chat."""
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    limit_teams(settings, agent_open_requests=None)
    agent = as_agent(proposals([{"amount": amount} for amount in range(EACH_SECOND)]))
    with run_chat_server() as server:
        add_team_chat(world, server.url)
        for second in range(SECONDS):
            at_second(second)
            start(world, "go", agent=agent)
            send_all()
        at_second(SECONDS + 30)
        while expand_announcements():
            pass
        send_all()

        total = SECONDS * EACH_SECOND
        assert len(server.bodies) <= 3
        assert [body["text"] for body in server.bodies] == [
            f"{EACH_SECOND} requests wait for a decision",
            f"{total - EACH_SECOND} requests wait for a decision",
        ]
    addresses = [address for message in mail.outbox for address in message.to]
    assert len(set(addresses)) == MEMBERS
    assert max(map(addresses.count, addresses)) <= 2
    rows = Notification.objects.filter(status="sent")
    assert rows.count() == Notification.objects.count() == total * (MEMBERS + 1)


def test_a_mail_about_many_requests_takes_no_query_for_each(world, bob, as_agent):
    channel = subscribe_person(bob)

    def queries(number):
        start(world, "go", agent=as_agent(proposals([{"amount": 1}] * number)))
        expand_announcements()
        Channel.objects.update(next_try_at=None)
        with CaptureQueriesContext(connection) as captured:
            send_due(channel.pk)
        return len(captured)

    few, many = queries(2), queries(60)

    assert many <= few + 2
