"""Following a thread: in order, without gaps, whatever happens to rings, reads and followers."""

import asyncio
import sys
from uuid import uuid4

import pytest
from django.db import OperationalError

from inbox import wakeups
from inbox.feed import EventRow, follow, follow_run, hubs, tails
from inbox.feed.hubs import Hub, hub
from inbox.models import Event
from inbox.queries.people.live_access import LiveAccess, TeamReader
from inbox.queries.runs.events import read_events
from inbox.rules.people.access import Actor, ActorKind
from tests.support.steps import start

THREAD = uuid4()
TEAM = uuid4()
LEAVING = TeamReader(Actor(ActorKind.HUMAN, label="Alice", user_id=1), TEAM)
STAYING = TeamReader(Actor(ActorKind.HUMAN, label="Bob", user_id=2), TEAM)


class Log:
    """A log that tests write to, and whose reads they can hold up or let fail."""

    def __init__(self):
        self.rows = []
        self.reads = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.failing = False
        self.sees_late_rows = False

    async def read(self, thread_id, after):
        self.reads += 1
        rows = [row for row in self.rows if row.seq > after]
        await self.gate.wait()
        if self.sees_late_rows:
            rows = [row for row in self.rows if row.seq > after]
        if self.failing:
            raise ConnectionError
        part = tails._first_chunk(rows)
        return part, len(part) < len(rows)

    def write(self, *seqs, padding=0):
        text = "x" * padding
        rows = [EventRow(seq, "run", "STEP_STARTED", f'{{"n":{seq}}}{text}') for seq in seqs]
        self.rows += rows
        return rows


def ring(rows, *, with_rows=True):
    message = {
        "type": "wakeup.thread",
        "thread": str(THREAD),
        "seq": rows[-1].seq,
        "rows": [list(row) for row in rows] if with_rows else [],
    }
    hub()._dispatch(message)


@pytest.fixture
async def log(monkeypatch):
    event_log = Log()
    monkeypatch.setattr(tails, "_read", event_log.read)

    def latest_seqs(thread_ids):
        return dict.fromkeys(thread_ids, event_log.rows[-1].seq if event_log.rows else 0)

    monkeypatch.setattr(hubs, "latest_seqs", latest_seqs)
    monkeypatch.setattr(Hub, "listen", lambda hub: None)
    return event_log


@pytest.fixture
def quick(monkeypatch):
    """Look without a ring after a moment instead of two seconds."""
    monkeypatch.setattr(hubs, "SAFETY_POLL_SECONDS", 0.05)


async def collect(stream, count):
    seqs = []
    async with asyncio.timeout(5):
        async for chunk in stream:
            seqs += [row.seq for row in chunk]
            if len(seqs) >= count:
                return seqs
    return seqs


async def settle():
    """Let every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_what_is_there_comes_first_and_what_is_rung_for_follows(log):
    log.write(1, 2, 3)
    following = asyncio.create_task(collect(follow(THREAD, 1), 4))
    await settle()

    ring(log.write(4, 5))

    assert await following == [2, 3, 4, 5]


async def test_rows_that_come_with_a_ring_are_not_read_again(log):
    log.write(1)
    following = asyncio.create_task(collect(follow(THREAD, 0), 3))
    await settle()
    before = log.reads

    ring(log.write(2))
    ring(log.write(3))

    assert await following == [1, 2, 3]
    assert log.reads == before


async def test_a_ring_with_a_gap_before_it_makes_the_log_be_read(log):
    log.write(1)
    following = asyncio.create_task(collect(follow(THREAD, 0), 4))
    await settle()

    log.write(2, 3)
    ring(log.write(4))

    assert await following == [1, 2, 3, 4]


async def test_a_ring_without_rows_makes_the_log_be_read(log):
    following = asyncio.create_task(collect(follow(THREAD, 0), 1))
    await settle()

    ring(log.write(1), with_rows=False)

    assert await following == [1]


async def test_idle_followers_get_empty_chunks(log, quick, monkeypatch):
    monkeypatch.setattr(tails, "IDLE_SECONDS", 0.0)

    chunks = follow(THREAD, 0)
    async with asyncio.timeout(5):
        assert [await anext(chunks), await anext(chunks)] == [(), ()]
    await chunks.aclose()


async def test_followers_of_a_thread_share_their_chunks(log):
    log.write(1)
    async with hub().follower(THREAD, None) as follower:
        await follower.tail.rows_after(0)
        ring(log.write(2))

        first, second = [await follower.tail.rows_after(1) for _ in range(2)]
        ring(log.write(3))
        third = await follower.tail.rows_after(1)

    assert first is second
    assert [row.seq for row in third] == [2, 3]


async def test_rows_that_come_from_redis_are_ignored(log, monkeypatch):
    monkeypatch.setattr(hubs, "carries_rows", lambda: False)
    log.write(1)
    following = asyncio.create_task(collect(follow(THREAD, 0), 2))
    await settle()
    forged = EventRow(2, "run", "RUN_FINISHED", '{"forged":true}')

    ring([forged])
    await settle()
    assert not following.done()
    ring(log.write(2))

    assert await following == [1, 2]
    assert [row.type for row in hub()._tails[str(THREAD)]._rows] == ["STEP_STARTED"] * 2


@pytest.mark.parametrize("in_one_process", [True, False])
def test_wakeups_carry_rows_in_one_process_only(
    in_one_process, monkeypatch, django_capture_on_commit_callbacks, db
):
    sent = []
    monkeypatch.setattr(wakeups, "carries_rows", lambda: in_one_process)
    monkeypatch.setattr(wakeups._sender, "send", sent.append)

    with django_capture_on_commit_callbacks(execute=True):
        wakeups.wake_subscribers_on_commit(THREAD, [(1, "run", "STEP_STARTED", "{}")])

    (message,) = sent
    assert ("rows" in message) == in_one_process


async def test_a_lost_ring_costs_time_and_no_event(log, quick):
    following = asyncio.create_task(collect(follow(THREAD, 0), 2))
    await settle()

    log.write(1, 2)

    assert await following == [1, 2]


async def test_followers_of_one_thread_share_its_reads(log):
    log.write(1, 2)
    followers = [asyncio.create_task(collect(follow(THREAD, 0), 5)) for _ in range(20)]
    await settle()
    before = log.reads

    ring(log.write(3))
    ring(log.write(4), with_rows=False)
    await settle()
    ring(log.write(5))

    assert await asyncio.gather(*followers) == [[1, 2, 3, 4, 5]] * 20
    assert log.reads - before == 1


async def test_all_followers_get_what_one_of_them_reads(log):
    followers = [asyncio.create_task(collect(follow(THREAD, 0), 1)) for _ in range(20)]
    await settle()
    before = log.reads
    log.gate.clear()

    ring(log.write(1), with_rows=False)
    await settle()
    log.gate.set()

    assert await asyncio.gather(*followers) == [[1]] * 20
    assert log.reads - before == 1


@pytest.mark.parametrize("sees_late_rows", [False, True])
async def test_a_ring_during_a_read_is_neither_lost_nor_delivered_twice(log, sees_late_rows):
    log.sees_late_rows = sees_late_rows
    log.write(*range(1, 11))
    following = asyncio.create_task(collect(follow(THREAD, 10), 2))
    await settle()
    log.gate.clear()
    hub()._tails[str(THREAD)]._is_stale = True
    ring([EventRow(10, "run", "STEP_STARTED", "{}")])  # old news: the log is read, and held up
    await settle()

    ring(log.write(11))
    log.gate.set()
    await settle()
    ring(log.write(12))

    assert await following == [11, 12]


async def test_a_follower_that_leaves_while_reading_does_not_stop_the_next(log):
    log.write(1)
    log.gate.clear()
    leaving = asyncio.create_task(collect(follow(THREAD, 0), 1))
    staying = asyncio.create_task(collect(follow(THREAD, 0), 1))
    await settle()

    leaving.cancel()
    await settle()
    log.gate.set()

    assert await staying == [1]


async def test_a_read_that_fails_does_not_stop_the_next_follower(log):
    log.write(1)
    log.failing = True
    with pytest.raises(ConnectionError):
        await collect(follow(THREAD, 0), 1)
    log.failing = False

    assert await collect(follow(THREAD, 0), 1) == [1]


async def test_a_follower_far_behind_reads_the_log_for_itself(log, monkeypatch):
    monkeypatch.setattr(tails, "_TAIL_ROWS", 2)
    log.write(*range(1, 7))
    ahead = asyncio.create_task(collect(follow(THREAD, 5), 2))
    await settle()
    behind = asyncio.create_task(collect(follow(THREAD, 0), 7))
    await settle()

    ring(log.write(7))

    assert await ahead == [6, 7]
    assert await behind == [1, 2, 3, 4, 5, 6, 7]


async def test_tail_is_bounded_in_bytes_and_slow_follower_misses_nothing(log):
    slow = follow(THREAD, 0)
    first = asyncio.create_task(anext(slow))
    await settle()
    big = 20 * tails._CHUNK_BYTES // 64
    ring(log.write(1, padding=big))
    seqs = [row.seq for row in await first]
    quick_one = asyncio.create_task(collect(follow(THREAD, 1), 299))

    for seq in range(2, 301):
        ring(log.write(seq, padding=big), with_rows=seq % 3 > 0)
        await settle()

    tail = hub()._tails[str(THREAD)]
    assert await quick_one == list(range(2, 301))
    assert 0 < tail._bytes <= tails._TAIL_BYTES < 300 * big
    assert tail._bytes == sum(sys.getsizeof(row.body) for row in tail._rows)
    while len(seqs) < 300:
        chunk = await anext(slow)
        assert sum(len(row.body) for row in chunk[:-1]) < tails._CHUNK_BYTES
        seqs += [row.seq for row in chunk]
    assert seqs == list(range(1, 301))
    await slow.aclose()


async def test_event_larger_than_what_is_kept_is_delivered(log):
    following = asyncio.create_task(collect(follow(THREAD, 0), 3))
    await settle()

    ring(log.write(1, padding=2 * tails._TAIL_BYTES))
    ring(log.write(2, 3))

    assert await following == [1, 2, 3]


def test_many_events_are_measured_before_they_are_read(world):
    run = start(world, "rehearse:parallel:20")
    all_events = list(Event.objects.filter(thread=run.thread).order_by("seq"))
    assert len(all_events) > 30
    most = sum(len(event.body.encode()) for event in all_events[:25])

    events = read_events(thread_id=run.thread_id, after=0, limit=1_000, max_bytes=most)

    assert ([row[0] for row in events.rows], events.is_cut) == (
        [row.seq for row in all_events[:25]],
        True,
    )


@pytest.mark.parametrize("text", ["rehearse:echo", "rehearse:parallel:20"])
def test_read_of_the_log_is_bounded_in_bytes_and_goes_on_where_it_ended(world, text):
    run = start(world, text)
    all_events = list(Event.objects.filter(thread=run.thread).order_by("seq"))
    most = len(all_events[0].body.encode()) + 1  # the second one begins before

    def read(after, limit=100):
        return read_events(thread_id=run.thread_id, after=after, limit=limit, max_bytes=most)

    first = read(0)
    assert ([row[0] for row in first.rows], first.is_cut) == ([1, 2], True)
    assert ([row[0] for row in read(0, limit=1).rows], read(0, limit=1).is_cut) == ([1], True)
    seqs, after = [], 0
    while rows := read(after).rows:
        seqs += [row[0] for row in rows]
        after = seqs[-1]
    assert seqs == [event.seq for event in all_events]
    assert ([row[0] for row in read(seqs[-2]).rows], read(seqs[-2], limit=1).is_cut) == (
        seqs[-1:],
        False,
    )


async def test_nothing_is_kept_of_a_thread_that_nobody_follows(log):
    log.write(1)
    stream = follow(THREAD, 0)
    assert [row.seq for row in await anext(stream)] == [1]

    await stream.aclose()

    assert hub()._tails == {}


@pytest.mark.parametrize("left", [None, LiveAccess()], ids=["signed out", "left the team"])
async def test_a_follower_whose_permission_is_gone_gets_nothing_more(log, quick, monkeypatch, left):
    reads = LiveAccess(frozenset({str(TEAM)}))
    access = {LEAVING.actor: left, STAYING.actor: reads}
    monkeypatch.setattr(hubs, "live_access_of", lambda actors: [access[actor] for actor in actors])

    async def until_the_end():
        return [row.seq async for chunk in follow(THREAD, 0, LEAVING) for row in chunk]

    staying = asyncio.create_task(collect(follow(THREAD, 0, STAYING), 2))
    following = asyncio.create_task(until_the_end())
    log.write(1)
    await asyncio.sleep(0)

    async with asyncio.timeout(5):
        assert set(await following) <= {1}
    ring(log.write(2))
    assert await staying == [1, 2]


async def test_a_run_is_followed_to_its_terminal_event_and_no_further(log):
    log.rows = [
        EventRow(1, "other", "RUN_FINISHED", "{}"),
        EventRow(2, "mine", "RUN_STARTED", "{}"),
        EventRow(3, "mine", "RUN_FINISHED", "{}"),
        EventRow(4, "next", "RUN_STARTED", "{}"),
    ]

    seqs = [row.seq async for chunk in follow_run(THREAD, "mine", 0) for row in chunk]

    assert seqs == [2, 3]


@pytest.fixture
def last_change(monkeypatch):
    """The seq of the last audit entry of the thread, as the hub reads it."""
    changes = {THREAD: 7}
    monkeypatch.setattr(Hub, "listen", lambda hub: None)
    monkeypatch.setattr(hubs, "latest_changes", lambda thread_ids: dict(changes))
    return changes


async def test_a_watcher_of_an_unchanged_thread_is_not_woken(last_change):
    async with hubs.watch(THREAD) as changed:
        await hub()._catch_up()

        assert not changed.is_set()


async def test_a_watcher_learns_of_a_change_whose_ring_was_lost(last_change, quick):
    async with hubs.watch(THREAD) as changed:
        last_change[THREAD] = 8

        async with asyncio.timeout(5):
            await changed.wait()


async def test_a_watcher_is_woken_if_the_last_change_could_not_be_read(last_change, monkeypatch):
    def fail(thread_ids):
        raise OperationalError

    with monkeypatch.context() as broken:
        broken.setattr(hubs, "latest_changes", fail)
        watching = hubs.watch(THREAD)
        changed = await watching.__aenter__()

    await hub()._catch_up()

    assert changed.is_set()
    await watching.__aexit__(None, None, None)
