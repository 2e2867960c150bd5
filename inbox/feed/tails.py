"""The end of a thread's log, as all of its followers share it."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from inbox.db_threads import in_db_thread
from inbox.selectors.events import read_events

#: What heals a lost ring: nobody waits longer than this before looking.
SAFETY_POLL_SECONDS = 2.0
_KEPT_ROWS = 2_000
_READ_AT_ONCE = 1_000


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


async def _read(thread_id: UUID, after: int) -> list[Row]:
    found = await in_db_thread(read_events, thread_id=thread_id, after=after, limit=_READ_AT_ONCE)
    return [Row(*row) for row in found]
