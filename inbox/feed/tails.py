"""The end of a thread's log, as all of its followers share it."""

import asyncio
import sys
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from inbox.platform.db_executor import in_db_thread
from inbox.queries.runs.events import read_events

#: What heals a lost ring: nobody waits longer than this before looking.
SAFETY_POLL_SECONDS = 2.0
#: What a tail keeps for its followers; whoever is further behind reads the log.
_KEPT_ROWS, _KEPT_BYTES = 2_000, 4 * 1024 * 1024
#: What one follower is given at once, and so what it holds in memory while its client reads.
_READ_ROWS, _READ_BYTES = 1_000, 256 * 1024


class Row(NamedTuple):
    """One event of a thread's log."""

    seq: int
    run_id: str
    type: str
    body: str


class Tail:
    """The end of one thread's log, shared by everyone who follows it."""

    def __init__(self, thread_id: UUID) -> None:
        self.thread_id = thread_id
        self.followers = 0
        self._rows: deque[Row] = deque()
        self._bytes = 0
        self._cursor: int | None = None
        self._dirty = True
        self._read_at = 0.0
        self._changed = asyncio.Event()
        self._reading = asyncio.Lock()

    async def rows_after(self, after: int) -> Sequence[Row]:
        """What is there after `after`, read from the log only if nobody has done it yet."""
        while self._cursor is None or (self._dirty and after >= self._cursor):
            # A ring that came while the log was being read makes it worth another look.
            await self._catch_up(after)
        if after >= self._cursor:
            return ()
        if self._rows and self._rows[0].seq <= after + 1:
            return _beginning(row for row in self._rows if row.seq > after)
        rows, _ = await _read(self.thread_id, after)
        return rows

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
                self._keep(hint)
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
                rows, is_cut = await _read(self.thread_id, start)
            except BaseException:
                # This follower is gone or the database is: the next one has to look again.
                self._dirty = True
                raise
            if is_cut:
                self._dirty = True
            if self._cursor is None:
                self._cursor = start
            # A ring may have moved the cursor while the log was being read.
            fresh = [row for row in rows if row.seq > self._cursor]
            if fresh:
                self._keep(fresh)
                self._cursor = fresh[-1].seq

    def _keep(self, rows: Sequence[Row]) -> None:
        """Add these at the end, and drop as many at the beginning as are too much."""
        self._rows.extend(rows)
        self._bytes += sum(map(_size, rows))
        while len(self._rows) > _KEPT_ROWS or self._bytes > _KEPT_BYTES:
            self._bytes -= _size(self._rows.popleft())


def _size(row: Row) -> int:
    """Return the bytes that the body takes in memory."""
    return sys.getsizeof(row.body)


def _beginning(rows: Iterable[Row]) -> list[Row]:
    """As many of them as a follower is given at once; one of them at least."""
    given, size = [], 0
    for row in rows:
        given.append(row)
        size += _size(row)
        if size >= _READ_BYTES:
            break
    return given


async def _read(thread_id: UUID, after: int) -> tuple[list[Row], bool]:
    """Return rows of the log, and whether there may be more."""
    found = await in_db_thread(
        read_events, thread_id=thread_id, after=after, limit=_READ_ROWS, most_bytes=_READ_BYTES
    )
    return [Row(*row) for row in found.rows], found.is_cut
