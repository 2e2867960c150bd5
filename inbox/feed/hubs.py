"""One channel-layer subscription per process, shared by all threads followed and pages open."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.db import InterfaceError, OperationalError

from inbox.feed.presence import ANNOUNCE_SECONDS, Presence, announcements
from inbox.feed.subscriptions import Subscription
from inbox.feed.tails import Tail
from inbox.platform.db_executor import in_db_thread
from inbox.platform.monitoring.metrics import FOLLOWERS
from inbox.queries.people.live_access import LiveAccess, TeamReader, live_access_of
from inbox.queries.runs.events import latest_changes, latest_seqs
from inbox.rules.people.access import Actor
from inbox.wakeups import PRESENCE_GROUP, WAKEUP_GROUP, carries_rows, channel_layer

log = structlog.get_logger(__name__)

#: The interval of access checks, and of reads in case a wake-up was lost.
SAFETY_POLL_SECONDS = 2.0
#: A process that received no heartbeat of its own for so long has missed wake-ups.
MISSED_HEARTBEATS_SECONDS = 2.5 * ANNOUNCE_SECONDS
#: The most watched threads that are looked up at each safety poll while wake-ups arrive.
_LOOKED_UP_AT_ONCE = 200
#: Presence changes within this time become one message.
_PRESENCE_DELAY_SECONDS = 0.1


@dataclass(eq=False)
class Follower:
    """A stream of a thread's events, and its reader, if it is checked."""

    tail: Tail
    reader: TeamReader | None
    is_allowed: bool = True


@dataclass(eq=False)
class Watcher:
    """A program that waits for a change of a thread."""

    thread_id: UUID
    #: Set whenever anything about the thread, or the access of `actor`, may have changed.
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    actor: Actor | None = None  #: whose access is checked, once it is known


class Hub:
    """The shared tails and subscriptions of one event loop."""

    def __init__(self) -> None:
        self._tails: dict[str, Tail] = {}
        self._followers: set[Follower] = set()
        self._watchers: dict[str, set[Watcher]] = {}
        self._polls = 0
        #: The seq of the last audit entry of each watched thread, as far as it was read.
        self._changes: dict[str, int] = {}
        self._listener: asyncio.Task[None] | None = None
        self._maintenance: asyncio.Task[None] | None = None
        self.subscriptions: dict[str, Subscription] = {}
        #: The subscriptions by the id of each team that they read.
        self._subscriptions_by_team: dict[str, set[Subscription]] = {}
        self._presence = Presence()
        self._name = uuid4().hex
        self._last_heartbeat_at: float | None = None
        self._announced_at = 0.0
        self._is_presence_update_due = False

    @asynccontextmanager
    async def follower(
        self, thread_id: UUID, reader: TeamReader | None
    ) -> "AsyncIterator[Follower]":
        """Follow a thread; without a `reader` its access is not checked."""
        self.listen()
        self._maintain_while_needed()
        tail = self._tails.setdefault(str(thread_id), Tail(thread_id))
        follower = Follower(tail, reader)
        self._followers.add(follower)
        tail.followers += 1
        FOLLOWERS.add()
        try:
            yield follower
        finally:
            self._followers.discard(follower)
            tail.followers -= 1
            FOLLOWERS.add(number=-1)
            if not tail.followers:
                self._tails.pop(str(thread_id), None)

    async def watch(self, thread_id: UUID) -> Watcher:
        """Watch a thread until `unwatch`."""
        self.listen()
        self._maintain_while_needed()
        name, watcher = str(thread_id), Watcher(thread_id)
        self._watchers.setdefault(name, set()).add(watcher)
        try:
            if name not in self._changes:
                await self._read_last_change(thread_id)
        except BaseException:
            self.unwatch(watcher)
            raise
        return watcher

    def unwatch(self, watcher: Watcher) -> None:
        name = str(watcher.thread_id)
        self._watchers[name].discard(watcher)
        if not self._watchers[name]:
            del self._watchers[name]
            self._changes.pop(name, None)

    async def add(self, subscription: Subscription) -> None:
        self.listen()
        self.subscriptions[subscription.key] = subscription
        self._index(subscription)
        if self._has_heartbeat():
            subscription.ready()
        else:
            await self._send(self._heartbeat())
        self._maintain_while_needed()
        await self.announce([subscription])

    async def remove(self, subscription: Subscription) -> None:
        self.subscriptions.pop(subscription.key, None)
        self._unindex(subscription)
        self._presence.remove(subscription.key)
        self._schedule_presence_update()
        await self._send({"type": "presence.gone", "page": subscription.key})

    def _index(self, subscription: Subscription) -> None:
        for team in subscription.access.reads:
            self._subscriptions_by_team.setdefault(team, set()).add(subscription)

    def _unindex(self, subscription: Subscription) -> None:
        for team in subscription.access.reads:
            subscriptions = self._subscriptions_by_team.get(team, set())
            subscriptions.discard(subscription)
            if not subscriptions:
                self._subscriptions_by_team.pop(team, None)

    async def announce(self, subscriptions: Iterable[Subscription]) -> None:
        """Announce open pages to every process, and to this one at once."""
        for message in announcements(subscriptions):
            self._presence.add(message["people"])
            self._schedule_presence_update()
            await self._send(message)

    def listen(self) -> None:
        if self._listener is None or self._listener.done():
            self._listener = _create_task(self._listen())

    async def _listen(self) -> None:
        """Dispatch wake-ups forever; while the layer is down, the safety poll replaces them."""
        while True:
            try:
                layer = channel_layer()
                channel = await layer.new_channel()
                await layer.group_add(WAKEUP_GROUP, channel)
                await layer.group_add(PRESENCE_GROUP, channel)
                # Receiving this heartbeat proves that Redis has accepted both subscriptions.
                await self._send(self._heartbeat())
                while True:
                    self._dispatch(await layer.receive(channel))
            except Exception as error:  # a lost layer must not end the listener
                log.warning("channel layer unreachable", error=type(error).__name__)
                self._last_heartbeat_at = None
                await asyncio.sleep(1)

    def _dispatch(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "wakeup.thread":
                tail = self._tails.get(message["thread"])
                if tail is not None:
                    tail.wake(message["seq"], message.get("rows", ()) if carries_rows() else ())
                self._wake_watchers(message["thread"])
            case "wakeup.team":
                self._wake_watchers(message["thread"])
                for subscription in self._subscriptions_by_team.get(message["team"], ()):
                    subscription.changed(message["thread"], message.get("decided"))
            case "presence.beat" if message["hub"] == self._name:
                self._receive_heartbeat()
            case "presence.here":
                self._presence.add(message["people"])
                self._schedule_presence_update()
            case "presence.gone":
                self._presence.remove(message["page"])
                self._schedule_presence_update()

    def _maintain_while_needed(self) -> None:
        if self._maintenance is None or self._maintenance.done():
            self._maintenance = _create_task(self._maintain())

    async def _maintain(self) -> None:
        """
        While pages or streams are open: check their access, read events whose wake-up was lost,
        keep idle streams alive, announce pages, and expire absent ones.
        """
        while self.subscriptions or self._followers or self._watchers:
            await asyncio.sleep(SAFETY_POLL_SECONDS)
            try:
                await self._check_access()
                await self._catch_up()
            except Exception as error:  # the database may be down for a while
                log.warning("permissions not checked", error=type(error).__name__)
            for tail in self._tails.values():
                tail.wake_if_idle()
            self._presence.expire()
            self._schedule_presence_update()
            if time.monotonic() - self._announced_at >= ANNOUNCE_SECONDS:
                self._announced_at = time.monotonic()
                await self._send(self._heartbeat())
                await self.announce(self.subscriptions.values())

    async def _check_access(self) -> None:
        """
        End the subscriptions and streams of people who signed out, were deactivated or left a team,
        and of keys that are not valid any more. Programs that wait with them read again.
        """
        followers = [(item, item.reader) for item in self._followers if item.reader is not None]
        subscriptions = list(self.subscriptions.values())
        watchers = [
            (item, item.actor)
            for items in self._watchers.values()
            for item in items
            if item.actor is not None
        ]
        # Each once: many programs wait with the same key.
        actors = {reader.actor for _, reader in followers}
        actors |= {subscription.actor for subscription in subscriptions}
        actors |= {actor for _, actor in watchers}
        if not actors:
            return
        accesses = await in_db_thread(live_access_of, list(actors))
        access_of = dict(zip(actors, accesses, strict=True))
        for follower, reader in followers:
            if not _may_follow(reader, access_of[reader.actor]):
                follower.is_allowed = False
                follower.tail.wake_followers()
        for subscription in subscriptions:
            access = access_of[subscription.actor]
            if access is None or subscription.access.reads - access.reads:
                subscription.end()
            elif subscription.key in self.subscriptions:  # not closed meanwhile
                has_joined = bool(access.reads - subscription.access.reads)
                subscription.access = access
                if has_joined:
                    self._index(subscription)
                    subscription.ready()
        for watcher, actor in watchers:
            if access_of[actor] is None:
                watcher.changed.set()

    async def _catch_up(self) -> None:
        """Find events and changes whose wake-up was lost, with one query each for all threads."""
        tails = list(self._tails.values())
        if tails:
            latest = await in_db_thread(latest_seqs, [tail.thread_id for tail in tails])
            for tail in tails:
                tail.catch_up(latest.get(tail.thread_id, 0))
        if watched := self._watched_threads():
            changes = await in_db_thread(latest_changes, watched)
            for thread_id, seq in changes.items():
                name = str(thread_id)
                if self._changes.get(name) != seq and name in self._watchers:
                    self._changes[name] = seq
                    self._wake_watchers(name)

    def _watched_threads(self) -> list[UUID]:
        """Return the threads to look up: all, or of very many a part, in turn."""
        self._polls += 1
        threads = [next(iter(items)).thread_id for items in self._watchers.values()]
        if len(threads) <= _LOOKED_UP_AT_ONCE or not self._has_heartbeat():
            return threads
        parts = math.ceil(len(threads) / _LOOKED_UP_AT_ONCE)
        return [thread for thread in threads if (thread.int + self._polls) % parts == 0]

    async def _read_last_change(self, thread_id: UUID) -> None:
        """Note the last change before a watcher reads, which only later ones need to wake."""
        with suppress(OperationalError, InterfaceError):  # then the next poll wakes the watcher
            changes = await in_db_thread(latest_changes, [thread_id])
            self._changes.setdefault(str(thread_id), changes.get(thread_id, 0))

    def _wake_watchers(self, thread_id: str) -> None:
        for watcher in self._watchers.get(thread_id, ()):
            watcher.changed.set()

    def _schedule_presence_update(self) -> None:
        if not self._is_presence_update_due:
            self._is_presence_update_due = True
            loop = asyncio.get_running_loop()
            loop.call_later(_PRESENCE_DELAY_SECONDS, self._update_presence)

    def _update_presence(self) -> None:
        self._is_presence_update_due = False
        self._presence.update(self.subscriptions.values())

    def _heartbeat(self) -> dict[str, Any]:
        return {"type": "presence.beat", "hub": self._name}

    def _has_heartbeat(self) -> bool:
        at = self._last_heartbeat_at
        return at is not None and time.monotonic() - at < MISSED_HEARTBEATS_SECONDS

    def _receive_heartbeat(self) -> None:
        """Note that messages arrive; after a silence, tell every page to read again."""
        if not self._has_heartbeat():
            for subscription in self.subscriptions.values():
                subscription.ready()
        self._last_heartbeat_at = time.monotonic()

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await asyncio.wait_for(channel_layer().group_send(PRESENCE_GROUP, message), timeout=2)
        except Exception as error:  # the next announcement repeats it
            log.warning("presence not sent", error=type(error).__name__)


def _may_follow(reader: TeamReader, access: LiveAccess | None) -> bool:
    if access is None:
        return False
    # The team of a key cannot change; a key without the scope `read` follows the runs it starts.
    return reader.actor.key_id is not None or str(reader.team_id) in access.reads


def _create_task(coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    """Create a task that outlives the current request and does not log with its context."""
    return asyncio.get_running_loop().create_task(coroutine, context=Context())


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub() -> Hub:
    """Return the hub of the running event loop: one per server process, one per test."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        for closed_loop in [loop for loop in _hubs if loop.is_closed()]:
            del _hubs[closed_loop]
        _hubs[loop] = Hub()
    return _hubs[loop]


@asynccontextmanager
async def subscribe(subscription: Subscription) -> AsyncIterator[None]:
    """
    Deliver changes in the reader's teams and presence to an open page.

    The first message is "hello", sent once every later change will be delivered.
    """
    current_hub = hub()
    try:
        await current_hub.add(subscription)
        yield
    finally:
        await current_hub.remove(subscription)


@asynccontextmanager
async def watch(thread_id: UUID) -> AsyncIterator[asyncio.Event]:
    """Yield an event that is set after each change of a thread; clear it, then read."""
    current_hub = hub()
    watcher = await current_hub.watch(thread_id)
    try:
        yield watcher.changed
    finally:
        current_hub.unwatch(watcher)


async def set_viewed_interrupt(subscription: Subscription, interrupt_id: str | None) -> None:
    """Announce that the page shows another interrupt, or none."""
    if interrupt_id != subscription.viewed_interrupt:
        subscription.viewed_interrupt = interrupt_id
        await hub().announce([subscription])
