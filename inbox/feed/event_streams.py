"""Streams of a thread's or a run's events: first the log, then what is committed afterwards."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from uuid import UUID

from inbox.feed.hubs import hub
from inbox.feed.tails import SAFETY_POLL_SECONDS, EventRow
from inbox.platform.db_executor import in_db_thread


async def follow(
    thread_id: UUID, after: int, may_read: Callable[[], bool] = lambda: True
) -> AsyncIterator[Sequence[EventRow]]:
    """
    Yield a thread's events with a seq greater than `after`, in order and without gaps.

    The stream ends only when `may_read`, which is called every few seconds, returns False. A chunk
    may be empty, so that a transport notices when its client is gone.
    """
    checked_at = time.monotonic()
    async with hub().tail(thread_id) as tail:
        while True:
            if time.monotonic() - checked_at > SAFETY_POLL_SECONDS:
                if not await in_db_thread(may_read):
                    return
                checked_at = time.monotonic()
            rows = await tail.rows_after(after)
            if rows:
                after = rows[-1].seq
                yield rows
            elif not await tail.wait():
                yield ()


async def follow_run(
    thread_id: UUID, run_id: UUID, after: int, may_read: Callable[[], bool] = lambda: True
) -> AsyncIterator[Sequence[EventRow]]:
    """Yield the events of one run up to its terminal event, then stop."""
    run_name = str(run_id)
    async with aclosing(follow(thread_id, after, may_read)) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            rows = [row for row in chunk if row.run_id == run_name]
            if rows:
                yield rows
                if rows[-1].type in ("RUN_FINISHED", "RUN_ERROR"):
                    return
