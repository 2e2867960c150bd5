"""Streams of a thread's or a run's events: first the log, then what is committed afterwards."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from uuid import UUID

from inbox.feed.hubs import hub
from inbox.feed.tails import EventRow
from inbox.queries.people.live_access import TeamReader


async def follow(
    thread_id: UUID, after: int, reader: TeamReader | None = None
) -> AsyncIterator[Sequence[EventRow]]:
    """
    Yield a thread's events with a seq greater than `after`, in order and without gaps.

    The stream ends only when the `reader` may not read the thread any more, which the hub checks
    every few seconds. A chunk may be empty, so that a transport notices when its client is gone.
    """
    async with hub().follower(thread_id, reader) as follower:
        while follower.is_allowed:
            rows = await follower.tail.rows_after(after)
            if not follower.is_allowed:
                return
            if rows:
                after = rows[-1].seq
                yield rows
            elif not await follower.tail.wait():
                yield ()


async def follow_run(
    thread_id: UUID, run_id: UUID, after: int, reader: TeamReader | None = None
) -> AsyncIterator[Sequence[EventRow]]:
    """Yield the events of one run up to its terminal event, then stop; chunks may be empty."""
    run_name = str(run_id)
    async with aclosing(follow(thread_id, after, reader)) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            rows = [row for row in chunk if row.run_id == run_name]
            if rows or not chunk:
                yield rows
            if rows and rows[-1].type in ("RUN_FINISHED", "RUN_ERROR"):
                return
