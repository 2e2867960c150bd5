"""An open page whose wake-up was lost is told to read again; others are left alone."""

import asyncio

import pytest
from channels.testing import WebsocketCommunicator

from inbox.feed.hubs import Hub
from inbox.feed.subscriptions import Subscription
from inbox.queries.people.live_access import LiveAccess
from inbox.realtime import updates_consumer
from inbox.realtime.updates_consumer import UpdatesConsumer
from inbox.rules.people.access import Actor, ActorKind

MARCO = Actor(ActorKind.HUMAN, label="Marco Ruiz", user_id=1)


class Team:
    """The position of a team, about which pages ask all the time."""

    def __init__(self):
        self.subscription = Subscription(MARCO, LiveAccess())
        self.position = "first"
        self.asked = 0
        self.fails = False

    def position_of(self, actor):
        self.asked += 1
        if self.fails:
            raise updates_consumer.OperationalError
        return self.position

    async def until_asked(self):
        """Wait until two checks have begun after now."""
        before = self.asked
        async with asyncio.timeout(5):
            while self.asked < before + 2:
                await asyncio.sleep(0)


@pytest.fixture
def team(monkeypatch):
    team = Team()

    async def drop(hub, message):
        """No wake-up and no heartbeat arrives."""

    monkeypatch.setattr(Hub, "listen", lambda hub: None)
    monkeypatch.setattr(Hub, "_send", drop)
    monkeypatch.setattr(Hub, "_maintain_while_needed", lambda hub: None)
    monkeypatch.setattr(updates_consumer, "POSITION_SECONDS", 0.0)
    monkeypatch.setattr(updates_consumer, "position_of", team.position_of)
    monkeypatch.setattr(updates_consumer, "authenticate", lambda scope: MARCO)
    monkeypatch.setattr(UpdatesConsumer, "_load", lambda *_: (team.subscription, None))
    return team


@pytest.fixture
async def page(team):
    communicator = WebsocketCommunicator(UpdatesConsumer.as_asgi(), "/ws/live/")
    is_connected, _ = await communicator.connect()
    assert is_connected
    team.subscription.ready()
    assert await communicator.receive_json_from(5) == {"type": "hello", "position": "first"}
    yield communicator
    await communicator.disconnect()


async def test_a_page_that_missed_a_change_reads_again(team, page):
    await team.until_asked()
    team.position = "second"

    assert await page.receive_json_from(5) == {"type": "hello", "position": "second"}


async def test_a_page_without_changes_is_left_alone(team, page):
    await team.until_asked()

    assert page.output_queue.empty()


async def test_a_page_that_was_told_of_a_change_is_not_told_again(team, monkeypatch):
    monkeypatch.setattr(updates_consumer, "POSITION_SECONDS", 3600.0)
    consumer, sent = UpdatesConsumer(), asyncio.Queue()
    consumer._actor = MARCO
    consumer._send = sent.put
    sending = asyncio.create_task(consumer._send_messages(team.subscription))
    team.subscription.ready()
    assert (await sent.get())["type"] == "hello"

    team.position = "second"
    team.subscription.changed("a thread")
    assert (await sent.get())["type"] == "inbox"
    await consumer._check_position(team.subscription)

    assert not team.subscription._has_messages.is_set()
    sending.cancel()


async def test_checks_go_on_after_the_database_was_away(team, page):
    await team.until_asked()
    team.fails = True
    await team.until_asked()
    team.fails, team.position = False, "second"

    assert await page.receive_json_from(5) == {"type": "hello", "position": "second"}
