"""The last events of a followed thread, read once and shared by all of its followers."""

import asyncio
import sys
import time
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from inbox.platform.db_executor import in_db_thread
from inbox.queries.runs.events import read_events

#: A follower gets an empty chunk after this time without events.
IDLE_SECONDS = 15.0
#: The bounds of a tail; a follower that is further behind reads the log.
_TAIL_ROWS, _TAIL_BYTES = 2_000, 4 * 1024 * 1024
#: The bounds of one chunk: a follower holds a chunk in memory while its client reads.
_CHUNK_ROWS, _CHUNK_BYTES = 1_000, 256 * 1024


class EventRow(NamedTuple):
    """One event of a thread's log."""

    seq: int
    run_id: str
    type: str
    body: str


class Tail:
    """The last events of one thread."""

    def __init__(self, thread_id: UUID) -> None:
        self.thread_id = thread_id
        self.followers = 0
        self._rows: deque[EventRow] = deque()
        self._bytes = 0
        #: The last chunk, which most followers read, and the seq that it follows.
        self._chunk: Sequence[EventRow] = ()
        self._chunk_after: int | None = None
        self._cursor: int | None = None
        self._is_stale = True
        self._wakeup = asyncio.Event()
        self._was_idle, self._woken_at = False, time.monotonic()
        self._read_lock = asyncio.Lock()

    async def rows_after(self, after: int) -> Sequence[EventRow]:
        """Return events after `after`, reading the log only if the tail is stale."""
        while self._cursor is None or (after >= self._cursor and self._is_behind()):
            # A wake-up that arrived during the read makes the tail stale again.
            await self._refresh(after)
        if after >= self._cursor:
            return ()
        if self._rows and self._rows[0].seq <= after + 1:
            # The log has no gaps, so the place of an event follows from its seq.
            if self._chunk_after != after:
                following = islice(self._rows, after + 1 - self._rows[0].seq, None)
                self._chunk_after, self._chunk = after, _first_chunk(following)
            return self._chunk
        rows, _ = await _read(self.thread_id, after)
        return rows

    def _is_behind(self) -> bool:
        """Return whether the log has to be read, or is being read for another follower."""
        return self._is_stale or self._read_lock.locked()

    async def wait(self) -> bool:
        """Wait for a wake-up; return False if there is none within IDLE_SECONDS."""
        await self._wakeup.wait()
        return not self._was_idle

    def wake_if_idle(self) -> None:
        """Wake followers after a time without wake-ups; a timer of each would cost more."""
        if time.monotonic() - self._woken_at >= IDLE_SECONDS:
            self.wake_followers(was_idle=True)

    def catch_up(self, seq: int) -> None:
        """Read the log again if it has grown to `seq` without a wake-up."""
        if self._cursor is not None and seq > self._cursor:
            self._is_stale = True
            self.wake_followers()

    def wake_followers(self, *, was_idle: bool = False) -> None:
        self._was_idle, self._woken_at = was_idle, time.monotonic()
        wakeup, self._wakeup = self._wakeup, asyncio.Event()
        wakeup.set()

    def wake(self, seq: int, rows: Sequence[Sequence[Any]]) -> None:
        """Append the rows of a wake-up if they continue the tail; otherwise mark it as stale."""
        if self._cursor is None:
            self._is_stale = True
        elif seq > self._cursor:
            hint = [EventRow(*row) for row in rows]
            if hint and hint[0].seq == self._cursor + 1 and not self._is_stale:
                self._append(hint)
                self._cursor = seq
            else:
                self._is_stale = True
        self.wake_followers()

    async def _refresh(self, after: int) -> None:
        async with self._read_lock:
            if not self._is_stale:
                return
            start = after if self._cursor is None else self._cursor
            self._is_stale = False
            try:
                rows, is_truncated = await _read(self.thread_id, start)
            except BaseException:
                # The follower was cancelled or the database is down: the next follower reads.
                self._is_stale = True
                raise
            if is_truncated:
                self._is_stale = True
            if self._cursor is None:
                self._cursor = start
            # A wake-up may have moved the cursor while the log was being read.
            new_rows = [row for row in rows if row.seq > self._cursor]
            if new_rows:
                self._append(new_rows)
                self._cursor = new_rows[-1].seq

    def _append(self, rows: Sequence[EventRow]) -> None:
        """Append rows and drop the oldest ones above the bounds."""
        self._chunk_after = None
        self._rows.extend(rows)
        self._bytes += sum(map(_size, rows))
        while len(self._rows) > _TAIL_ROWS or self._bytes > _TAIL_BYTES:
            self._bytes -= _size(self._rows.popleft())


def _size(row: EventRow) -> int:
    """Return the bytes of memory that the body takes."""
    return sys.getsizeof(row.body)


def _first_chunk(rows: Iterable[EventRow]) -> list[EventRow]:
    """Return the first rows up to the size of a chunk, at least one."""
    chunk, size = [], 0
    for row in rows:
        chunk.append(row)
        size += _size(row)
        if size >= _CHUNK_BYTES:
            break
    return chunk


async def _read(thread_id: UUID, after: int) -> tuple[list[EventRow], bool]:
    """Return rows of the log, and whether there may be more."""
    page = await in_db_thread(
        read_events, thread_id=thread_id, after=after, limit=_CHUNK_ROWS, max_bytes=_CHUNK_BYTES
    )
    return [EventRow(*row) for row in page.rows], page.is_cut
