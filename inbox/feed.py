"""Following threads: one listener and one tail per thread in each process, for every follower."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, NamedTuple
from uuid import UUID

import structlog

from inbox.db_threads import in_db_thread
from inbox.notify import GROUP, rings
from inbox.selectors.events import read_events

log = structlog.get_logger(__name__)

#: What heals a lost ring: nobody waits longer than this before looking.
SAFETY_POLL_SECONDS = 2.0
_KEPT_ROWS = 2_000
_READ_AT_ONCE = 1_000
_WAITING_POKES = 100


class Row(NamedTuple):
    """One event of a thread's log."""

    seq: int
    run_id: str
    type: str
    body: str


async def follow(
    thread_id: UUID, after: int, may_read: Callable[[], bool] = lambda: True
) -> AsyncIterator[Sequence[Row]]:
    """
    Yield a thread's events with a seq greater than `after`, in order and without gaps.

    It goes on for ever, unless `may_read`, which is asked every few seconds, says no.

    They come in chunks of what is there; first the log, then what is committed while we wait. A
    chunk may be empty, so that a transport finds out whether its client is still there.
    """
    asked_at = time.monotonic()
    async with _hub().tail(thread_id) as tail:
        while True:
            if time.monotonic() - asked_at > SAFETY_POLL_SECONDS:
                if not await in_db_thread(may_read):
                    return
                asked_at = time.monotonic()
            rows = await tail.rows_after(after)
            if rows:
                after = rows[-1].seq
                yield rows
            elif not await tail.wait():
                yield ()


async def follow_run(
    thread_id: UUID, run_id: UUID, after: int, may_read: Callable[[], bool] = lambda: True
) -> AsyncIterator[Sequence[Row]]:
    """Yield the events of one run up to its terminal event, then stop."""
    name = str(run_id)
    async with aclosing(follow(thread_id, after, may_read)) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            rows = [row for row in chunk if row.run_id == name]
            if rows:
                yield rows
                if rows[-1].type in ("RUN_FINISHED", "RUN_ERROR"):
                    return


@asynccontextmanager
async def watch_teams(teams: Sequence[str]) -> AsyncIterator["asyncio.Queue[str]"]:
    """A queue that gets a thread's id whenever an interrupt or run of these teams changed."""
    hub = _hub()
    queue: asyncio.Queue[str] = asyncio.Queue(_WAITING_POKES)
    hub.listen()
    watcher = (frozenset(teams), queue)
    hub.watchers.append(watcher)
    try:
        yield queue
    finally:
        hub.watchers.remove(watcher)


class _Tail:
    """The end of one thread's log, shared by everyone who follows it."""

    def __init__(self, thread_id: UUID) -> None:
        self.thread_id = thread_id
        self.followers = 0
        self._rows: deque[Row] = deque(maxlen=_KEPT_ROWS)
        self._cursor: int | None = None
        self._dirty = True
        self._read_at = 0.0
        self._changed = asyncio.Event()
        self._reading = asyncio.Lock()

    async def rows_after(self, after: int) -> Sequence[Row]:
        """What is there after `after`, read from the log only if nobody has done it yet."""
        while self._cursor is None or self._dirty:
            # A ring that came while the log was being read makes it worth another look.
            await self._catch_up(after)
        if after >= self._cursor:
            return ()
        if self._rows and self._rows[0].seq <= after + 1:
            return [row for row in self._rows if row.seq > after]
        return await _read(self.thread_id, after)

    async def wait(self) -> bool:
        """Wait for a ring, or for the time to look without one; return whether it rang."""
        rang = True
        try:
            async with asyncio.timeout(SAFETY_POLL_SECONDS):
                await self._changed.wait()
        except TimeoutError:
            rang = False
        if time.monotonic() - self._read_at >= SAFETY_POLL_SECONDS:
            self._dirty = True
        return rang

    def ring(self, seq: int, rows: Sequence[Sequence[Any]]) -> None:
        """Take the rows that came with a ring if they continue the tail, else look into the log."""
        if self._cursor is None:
            self._dirty = True
        elif seq > self._cursor:
            hint = [Row(*row) for row in rows]
            if hint and hint[0].seq == self._cursor + 1 and not self._dirty:
                self._rows.extend(hint)
                self._cursor = seq
            else:
                self._dirty = True
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _catch_up(self, after: int) -> None:
        async with self._reading:
            if not self._dirty:
                return
            start = after if self._cursor is None else self._cursor
            self._dirty = False
            self._read_at = time.monotonic()
            try:
                rows = await _read(self.thread_id, start)
            except BaseException:
                # This follower is gone or the database is: the next one has to look again.
                self._dirty = True
                raise
            if len(rows) == _READ_AT_ONCE:
                self._dirty = True
            if self._cursor is None:
                self._cursor = start
            # A ring may have moved the cursor while the log was being read.
            fresh = [row for row in rows if row.seq > self._cursor]
            if fresh:
                self._rows.extend(fresh)
                self._cursor = fresh[-1].seq


class _Hub:
    """One subscription to the rings, whoever follows whatever in this event loop."""

    def __init__(self) -> None:
        self._tails: dict[str, _Tail] = {}
        self._listener: asyncio.Task[None] | None = None
        self.watchers: list[tuple[frozenset[str], asyncio.Queue[str]]] = []

    @asynccontextmanager
    async def tail(self, thread_id: UUID) -> AsyncIterator[_Tail]:
        self.listen()
        tail = self._tails.setdefault(str(thread_id), _Tail(thread_id))
        tail.followers += 1
        try:
            yield tail
        finally:
            tail.followers -= 1
            if not tail.followers:
                self._tails.pop(str(thread_id), None)

    def listen(self) -> None:
        if self._listener is None or self._listener.done():
            self._listener = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        """Hand rings on for ever; while the layer is away, the safety poll does the work."""
        while True:
            try:
                layer = rings()
                channel = await layer.new_channel()
                await layer.group_add(GROUP, channel)
                while True:
                    self._dispatch(await layer.receive(channel))
            except Exception as error:  # a lost layer must not end the listener
                log.warning("rings unreachable", error=type(error).__name__)
                await asyncio.sleep(1)

    def _dispatch(self, message: dict[str, Any]) -> None:
        if message["type"] == "ring.thread":
            tail = self._tails.get(message["thread"])
            if tail is not None:
                tail.ring(message["seq"], message["rows"])
            return
        for teams, queue in self.watchers:
            if message["team"] in teams and not queue.full():
                queue.put_nowait(message["thread"])


_hubs: dict[asyncio.AbstractEventLoop, _Hub] = {}


def _hub() -> _Hub:
    """The hub of the running event loop; a server has one, each test its own."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        for old in [known for known in _hubs if known.is_closed()]:
            del _hubs[old]
        _hubs[loop] = _Hub()
    return _hubs[loop]


async def _read(thread_id: UUID, after: int) -> list[Row]:
    found = await in_db_thread(read_events, thread_id=thread_id, after=after, limit=_READ_AT_ONCE)
    return [Row(*row) for row in found]
