"""Programs that poll again and again: nothing is read until the request or the key changes."""

import asyncio
import json
from uuid import UUID, uuid4

import pytest

from inbox.api.requests import request_poll
from inbox.api.requests.request_poll import RequestPoll
from inbox.feed import hubs
from inbox.feed.hubs import Hub, hub
from inbox.platform.monitoring import request_facts
from inbox.queries.people.live_access import LiveAccess
from inbox.rules.people.access import Actor, ActorKind

REQUEST, THREAD = uuid4(), uuid4()
KEY = Actor(ActorKind.KEY, label="key nightly", key_id=uuid4())
PERSON = Actor(ActorKind.HUMAN, label="Alice", user_id=1)


class Site:
    """The application behind the polls, which counts how often it is asked."""

    def __init__(self):
        self.reads = 0
        self.status = "open"
        self.actor = KEY
        self.poll = RequestPoll(self)

    async def __call__(self, scope, receive, send):
        self.reads += 1
        request_facts.set_actor(self.actor)
        body = json.dumps({"status": self.status}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def ask(self, *, token=b"first", leaves=None, **more):
        """Poll as a program does, until it `leaves`; return the status of the request."""
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/api/requests/{REQUEST}",
            "query_string": b"wait=1",
            "client": ("203.0.113.7", 4711),
            "headers": [(b"authorization", token), (b"x-request-id", uuid4().hex.encode())],
            "url_route": {"kwargs": {"request_id": REQUEST}},
            **more,
        }
        sent, has_asked = [], False

        async def receive():
            nonlocal has_asked
            if has_asked:
                await (leaves or asyncio.Event()).wait()
                return {"type": "http.disconnect"}
            has_asked = True
            return {"type": "http.request", "body": b""}

        async def send(message):
            sent.append(message)

        request_facts.begin(scope)
        await self.poll(scope, receive, send)
        return json.loads(sent[1]["body"])["status"] if sent else None


@pytest.fixture
def site(monkeypatch):
    """A site on which each poll ends at once, and nothing has changed."""
    monkeypatch.setattr(request_poll, "_KEPT_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(request_poll, "check_wait", lambda text: 0.01)
    monkeypatch.setattr(request_poll, "thread_of_request", lambda request_id: THREAD)
    monkeypatch.setattr(Hub, "listen", lambda hub: None)
    monkeypatch.setattr(hubs, "latest_changes", lambda thread_ids: dict.fromkeys(thread_ids, 7))
    return Site()


async def test_a_program_that_asks_again_is_not_read_again(site):
    assert [await site.ask() for _ in range(5)] == ["open"] * 5
    assert site.reads == 1


async def test_what_changes_between_two_polls_is_read(site):
    await site.ask()
    site.status = "decided"
    hub()._dispatch({"type": "wakeup.thread", "thread": str(THREAD), "seq": 8})

    assert await site.ask() == "decided"
    assert site.reads == 2


async def test_nothing_is_read_for_a_program_that_has_left(site, monkeypatch):
    monkeypatch.setattr(request_poll, "check_wait", lambda text: 60)
    leaves = asyncio.Event()
    polling = asyncio.create_task(site.ask(leaves=leaves))
    async with asyncio.timeout(5):
        while not site.reads:
            await asyncio.sleep(0)

        leaves.set()

        assert await polling is None
    assert site.reads == 1
    assert hub()._watchers == {}


async def test_a_key_that_ends_between_two_polls_is_read_again(site, monkeypatch):
    accesses = {KEY: LiveAccess()}
    monkeypatch.setattr(hubs, "live_access_of", lambda actors: [accesses[key] for key in actors])
    await site.ask()
    await hub()._check_access()
    await site.ask()
    assert site.reads == 1

    accesses[KEY] = None
    await hub()._check_access()
    await site.ask()

    assert site.reads == 2


@pytest.mark.parametrize(
    "difference",
    [
        {"token": b"second"},
        {"client": ("198.51.100.9", 4711)},
        {"query_string": b"wait=1&fields=status"},
        {"path": "/api/requests/other"},
    ],
    ids=["key", "address", "query", "path"],
)
async def test_a_poll_that_differs_reads_for_itself(site, difference):
    await site.ask()
    await site.ask(**difference)

    assert site.reads == 2


async def test_a_person_reads_at_each_poll(site):
    site.actor = PERSON
    await site.ask()
    await site.ask()

    assert site.reads == 2


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("_KEPT_AFTER_SECONDS", 10.0), ("_FRESH_SECONDS", 0.0)],
    ids=["after short polls", "after some minutes"],
)
async def test_an_answer_is_read_again(site, monkeypatch, name, seconds):
    monkeypatch.setattr(request_poll, name, seconds)
    await site.ask()
    await site.ask()

    assert site.reads == 2


async def test_a_request_is_not_watched_for_ever(site, monkeypatch):
    monkeypatch.setattr(request_poll, "_KEPT_SECONDS", 0.0)
    await site.ask()
    async with asyncio.timeout(5):
        while hub()._watchers:
            await asyncio.sleep(0)

    await site.ask()
    assert site.reads == 2


@pytest.mark.parametrize(("has_heartbeat", "polls"), [(True, 3), (False, 1)])
async def test_very_many_watched_threads_are_looked_up_in_turn(monkeypatch, has_heartbeat, polls):
    threads = {UUID(int=number) for number in range(3 * hubs._LOOKED_UP_AT_ONCE)}
    looked_up = []

    def look_up(thread_ids):
        looked_up.append(thread_ids)
        return {}

    monkeypatch.setattr(Hub, "listen", lambda hub: None)
    monkeypatch.setattr(Hub, "_maintain_while_needed", lambda hub: None)
    monkeypatch.setattr(Hub, "_has_heartbeat", lambda hub: has_heartbeat)
    monkeypatch.setattr(hubs, "latest_changes", lambda thread_ids: {})
    for thread in threads:
        await hub().watch(thread)
    monkeypatch.setattr(hubs, "latest_changes", look_up)
    for _ in range(polls):
        await hub()._catch_up()

    assert sorted(map(len, looked_up)) == [len(threads) // polls] * polls
    assert set().union(*looked_up) == threads
