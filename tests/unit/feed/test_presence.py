"""Open pages: what they are sent, and who else is there."""

import asyncio
from contextlib import AsyncExitStack
from uuid import uuid4

import pytest

from inbox import wakeups
from inbox.feed import Subscription, hubs, presence, set_viewed_interrupt, subscribe
from inbox.queries.people.live_access import LiveAccess
from inbox.realtime.updates_consumer import parse_presence_message
from inbox.rules.people.access import Actor, ActorKind

OURS, THEIRS = str(uuid4()), str(uuid4())
THIS, THAT = str(uuid4()), str(uuid4())


class Room:
    """Opens pages in this process and remembers what they were sent."""

    def __init__(self, stack):
        self._stack = stack
        self.sent = {}
        self._readers = []

    async def enter(self, number, at=None, *, reads=(OURS,), decides=(OURS,), name=""):
        """A page of the person with this number."""
        actor = Actor(ActorKind.HUMAN, label=name or f"Person {number}", user_id=number)
        live_access = LiveAccess(frozenset(reads), frozenset(decides))
        page = Subscription(actor, live_access, at)
        context = subscribe(page)
        await context.__aenter__()
        page.leave = lambda: context.__aexit__(None, None, None)
        self._stack.push_async_callback(self._leave, page)
        self.sent[page] = []
        self._readers.append(asyncio.create_task(self._read(page)))
        return page

    async def _read(self, page):
        while (messages := await page.messages()) is not None:
            self.sent[page] += messages
        self.sent[page].append("over")

    async def _leave(self, page):
        await page.leave()

    def close(self):
        for reader in self._readers:
            reader.cancel()

    def viewers(self, page):
        """The names that the page shows now."""
        return [face["name"] for face in self.last(page)["here"] or ()]

    def last(self, page):
        pictures = [
            message
            for message in self.sent[page]
            if message != "over" and message["type"] == "presence"
        ]
        return pictures[-1] if pictures else {"here": None, "online": None}

    async def until(self, condition):
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0.005)


@pytest.fixture
async def room(monkeypatch):
    monkeypatch.setattr(hubs, "_PRESENCE_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(
        hubs, "live_access_of", lambda actors: [standing_of(actor) for actor in actors]
    )
    monkeypatch.setattr(hubs, "SAFETY_POLL_SECONDS", 0.02)
    standings.clear()
    async with AsyncExitStack() as stack:
        entered = Room(stack)
        yield entered
        entered.close()


standings = {}


def standing_of(actor):
    both = LiveAccess(frozenset({OURS}), frozenset({OURS}))
    return standings.get(actor.user_id, both)


async def test_viewers_of_a_request_see_each_other_but_not_themselves(room):
    bob = await room.enter(1, THIS, name="Bob Hill")
    erin = await room.enter(2, THIS, name="Erin")
    other = await room.enter(3, THAT)

    await room.until(lambda: room.viewers(bob) == ["Erin"] and room.viewers(erin) == ["Bob Hill"])

    assert room.viewers(other) == []
    assert room.last(erin) == {
        "type": "presence",
        "here": [{"name": "Bob Hill", "initials": "BH", "hue": 2}],
        "online": 3,
    }


async def test_several_tabs_of_one_person_count_once(room):
    bob = await room.enter(1, THIS)
    tabs = [await room.enter(2, THIS) for _ in range(3)]

    await room.until(lambda: room.last(bob)["online"] == 2 and len(room.viewers(bob)) == 1)
    await tabs[0].leave()
    await tabs[1].leave()
    await room.until(lambda: len(hubs.hub().subscriptions) == 2)

    assert room.viewers(bob) == ["Person 2"]
    assert room.viewers(tabs[2]) == ["Person 1"]


async def test_who_leaves_is_gone_at_once(room):
    bob = await room.enter(1, THIS)
    erin = await room.enter(2, THIS)
    await room.until(lambda: room.viewers(bob) == ["Person 2"])

    await erin.leave()

    await room.until(lambda: room.viewers(bob) == [])
    assert room.last(bob)["online"] == 1


async def test_pages_of_one_process_know_of_each_other_while_the_layer_is_away(room, monkeypatch):
    async def away(group, message):
        raise ConnectionError

    monkeypatch.setattr(wakeups.channel_layer(), "group_send", away)
    bob = await room.enter(1, THIS)
    erin = await room.enter(2, THIS)
    await room.until(lambda: room.viewers(bob) == ["Person 2"])

    await erin.leave()

    await room.until(lambda: room.viewers(bob) == [])


async def test_who_turns_to_another_request_is_there_and_not_here(room):
    bob = await room.enter(1, THIS)
    erin = await room.enter(2, THIS)
    await room.until(lambda: room.viewers(bob) == ["Person 2"])

    await set_viewed_interrupt(erin, THAT)
    await room.until(lambda: room.viewers(bob) == [])
    assert room.last(bob)["online"] == 2
    await set_viewed_interrupt(bob, THAT)

    await room.until(lambda: room.viewers(bob) == ["Person 2"])


async def test_people_of_other_teams_are_neither_seen_nor_counted(room):
    standings[2] = LiveAccess(frozenset({THEIRS}), frozenset({THEIRS}))
    bob = await room.enter(1, THIS)
    stranger = await room.enter(2, THIS, reads=[THEIRS], decides=[THEIRS])
    await room.until(lambda: room.last(stranger)["online"] == 1)

    assert room.viewers(bob) == []
    assert room.viewers(stranger) == []
    assert room.last(bob)["online"] == 1


async def test_who_only_looks_on_is_seen_and_not_counted_as_a_reviewer(room):
    bob = await room.enter(1, THIS)
    await room.enter(2, THIS, decides=[])

    await room.until(lambda: room.viewers(bob) == ["Person 2"])

    assert room.last(bob)["online"] == 1


async def test_nothing_is_said_while_nothing_changes(room, monkeypatch):
    monkeypatch.setattr(hubs, "ANNOUNCE_SECONDS", 0.02)
    bob = await room.enter(1, THIS)
    await room.enter(2, THIS)
    await room.until(lambda: room.viewers(bob) == ["Person 2"])
    before = len(room.sent[bob])
    times = set()

    def has_announced_again():
        times.add(hubs.hub()._announced_at)
        return len(times) > 3

    await room.until(has_announced_again)

    assert len(room.sent[bob]) == before


async def test_those_of_a_process_that_died_are_gone_after_a_while(room, monkeypatch):
    bob = await room.enter(1, THIS)
    await room.until(lambda: {"type": "hello"} in room.sent[bob])
    person = {"page": "far away", "user": 9, "name": "Far", "reads": [OURS], "decides": [OURS]}
    message = {"type": "presence.here", "people": [{**person, "interrupt": THIS}]}
    await wakeups.channel_layer().group_send(wakeups.PRESENCE_GROUP, message)
    await room.until(lambda: room.viewers(bob) == ["Far"])

    monkeypatch.setattr(presence, "EXPIRY_SECONDS", 0.05)
    monkeypatch.setattr(hubs, "ANNOUNCE_SECONDS", 0.0)

    await room.until(lambda: room.viewers(bob) == [])
    assert room.last(bob)["online"] == 1


async def test_hello_is_said_when_everything_is_heard_and_not_before(room, monkeypatch):
    layer = wakeups.channel_layer()
    gate, add = asyncio.Event(), layer.group_add

    async def add_later(group, channel):
        await gate.wait()
        await add(group, channel)

    monkeypatch.setattr(layer, "group_add", add_later)
    bob = await room.enter(1)
    await room.until(lambda: room.last(bob)["online"] == 1)
    assert {"type": "hello"} not in room.sent[bob]

    gate.set()

    await room.until(lambda: {"type": "hello"} in room.sent[bob])
    await layer.group_send(
        wakeups.WAKEUP_GROUP, {"type": "wakeup.team", "team": OURS, "thread": "t"}
    )
    await room.until(lambda: {"type": "inbox", "thread": "t"} in room.sent[bob])


async def test_a_page_that_comes_later_is_greeted_at_once(room):
    bob = await room.enter(1)
    await room.until(lambda: {"type": "hello"} in room.sent[bob])

    erin = await room.enter(2)

    await room.until(lambda: {"type": "hello"} in room.sent[erin])
    assert room.sent[bob].count({"type": "hello"}) == 1


async def test_after_a_time_of_deafness_every_page_is_told_to_look(room, monkeypatch):
    bob = await room.enter(1)
    await room.until(lambda: {"type": "hello"} in room.sent[bob])

    hubs.hub()._last_heartbeat_at -= hubs.MISSED_HEARTBEATS_SECONDS
    monkeypatch.setattr(hubs, "ANNOUNCE_SECONDS", 0.0)

    await room.until(lambda: room.sent[bob].count({"type": "hello"}) == 2)


async def test_a_team_is_told_of_its_own_threads_only(room):
    bob = await room.enter(1)
    await room.until(lambda: {"type": "hello"} in room.sent[bob])

    for team, thread in ((THEIRS, "theirs"), (OURS, "ours")):
        message = {"type": "wakeup.team", "team": team, "thread": thread}
        await wakeups.channel_layer().group_send(wakeups.WAKEUP_GROUP, message)

    await room.until(lambda: {"type": "inbox", "thread": "ours"} in room.sent[bob])
    assert {"type": "inbox", "thread": "theirs"} not in room.sent[bob]


@pytest.mark.parametrize("left", [None, LiveAccess()], ids=["signed out", "left the team"])
async def test_a_page_whose_reader_may_not_read_any_more_is_over(room, left):
    bob = await room.enter(1)
    erin = await room.enter(2)
    await room.until(lambda: {"type": "hello"} in room.sent[bob])

    standings[1] = left

    await room.until(lambda: room.sent[bob][-1] == "over")
    assert "over" not in room.sent[erin]


async def test_a_page_hears_of_a_team_that_its_reader_joined(room):
    bob = await room.enter(1)
    standings[1] = LiveAccess(frozenset({OURS, THEIRS}), frozenset({OURS}))
    await room.until(lambda: THEIRS in bob.access.reads)

    message = {"type": "wakeup.team", "team": THEIRS, "thread": "theirs"}
    await wakeups.channel_layer().group_send(wakeups.WAKEUP_GROUP, message)

    await room.until(lambda: {"type": "inbox", "thread": "theirs"} in room.sent[bob])


async def test_a_page_reads_again_when_its_reader_joined_a_team(room):
    bob = await room.enter(1)
    await room.until(lambda: {"type": "hello"} in room.sent[bob])

    standings[1] = LiveAccess(frozenset({OURS, THEIRS}), frozenset({OURS}))

    await room.until(lambda: room.sent[bob].count({"type": "hello"}) == 2)


async def test_nothing_is_kept_of_a_page_that_is_closed(room):
    bob = await room.enter(1)

    await bob.leave()

    assert hubs.hub()._subscriptions_by_team == {}


async def test_nothing_is_kept_of_a_page_that_is_closed_during_a_check(room, monkeypatch):
    bob = await room.enter(1)
    checks = []

    async def leave_meanwhile(function, actors):
        if bob.actor in actors:
            await bob.leave()
            checks.append(actors)
        return [LiveAccess(frozenset({OURS, THEIRS})) for _ in actors]

    monkeypatch.setattr(hubs, "in_db_thread", leave_meanwhile)

    await room.until(lambda: checks)

    assert hubs.hub()._subscriptions_by_team == {}


async def test_while_the_database_is_away_nobody_is_sent_away(room, monkeypatch):
    calls = []

    def away(readers):
        calls.append(readers)
        raise ConnectionError

    bob = await room.enter(1)
    monkeypatch.setattr(hubs, "live_access_of", away)

    await room.until(lambda: len(calls) > 2)

    assert "over" not in room.sent[bob]


async def test_a_machine_listens_and_is_not_there(room):
    bob = await room.enter(1, THIS)
    actor = Actor(ActorKind.KEY, label="key ci", key_id=uuid4())
    page = Subscription(actor, LiveAccess(frozenset({OURS})), THIS)

    async with subscribe(page):
        await set_viewed_interrupt(page, THAT)
        await set_viewed_interrupt(page, THIS)
        assert {"type": "hello"} in await page.messages()

    assert room.viewers(bob) in (None, [])
    assert len(hubs.hub()._presence._pages) == 1


async def test_many_changes_at_once_are_one_poke_a_thread():
    page = Subscription(Actor(ActorKind.HUMAN, "Bob", user_id=1), LiveAccess())
    for number in range(500):
        page.changed(f"thread {number % 2}")
    page.ready()
    page.ready()

    assert await page.messages() == [
        {"type": "hello"},
        {"type": "inbox", "thread": "thread 0"},
        {"type": "inbox", "thread": "thread 1"},
    ]


async def test_only_the_team_is_told_who_decided(room):
    bob = await room.enter(1)
    await room.until(lambda: {"type": "hello"} in room.sent[bob])

    for team, who in ((THEIRS, "Eve"), (OURS, "Ann")):
        decided = {"interrupts": [THIS], "by": who}
        message = {"type": "wakeup.team", "team": team, "thread": "t", "decided": decided}
        await wakeups.channel_layer().group_send(wakeups.WAKEUP_GROUP, message)

    await room.until(lambda: {"type": "inbox", "thread": "t"} in room.sent[bob])
    messages = [message for message in room.sent[bob] if message["type"] == "decided"]
    assert messages == [{"type": "decided", "interrupts": [THIS], "by": "Ann"}]


async def test_a_page_that_does_not_listen_keeps_a_bounded_number_of_messages():
    page = Subscription(Actor(ActorKind.HUMAN, "Bob", user_id=1), LiveAccess())
    for number in range(5_000):
        page.changed(f"thread {number}")

    assert len(await page.messages()) == 100


def test_a_page_says_which_request_it_shows_or_that_it_shows_none():
    name = uuid4()

    assert parse_presence_message(f'{{"type": "here", "interrupt": "{name}"}}') == name
    assert parse_presence_message('{"type": "here", "interrupt": null}') is None


@pytest.mark.parametrize(
    "frame",
    [
        None,
        "",
        "null",
        "[]",
        "{}",
        "here",
        '{"type": "here"}',
        '{"type": "gone", "interrupt": null}',
        '{"type": "here", "interrupt": 1}',
        '{"type": "here", "interrupt": ""}',
        '{"type": "here", "interrupt": "not-an-id"}',
        '{"type": "here", "interrupt": {"a": 1}}',
        '{"type": "here", "interrupt": null, "more": 1}',
        '{"type": "here", "type": "here", "interrupt": null}',
        '{"type": "here", "interrupt": "0197FFFF-0000-7000-8000-00000000000A"}',
        '{"type": "here", "interrupt": "{0197ffff-0000-7000-8000-00000000000a}"}',
        '{"type": "here", "interrupt": null}' + " " * 200,
        "[" * 150,
    ],
)
def test_anything_else_that_a_page_says_is_nonsense(frame):
    with pytest.raises(ValueError):  # noqa: PT011 - whichever it is, it is ignored
        parse_presence_message(frame)
