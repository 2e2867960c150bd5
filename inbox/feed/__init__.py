"""Following threads and teams: one listener in each process, for every follower and page."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from uuid import UUID

from inbox.feed.hubs import hub
from inbox.feed.pages import Looking, Page
from inbox.feed.tails import SAFETY_POLL_SECONDS, Row
from inbox.platform.db_executor import in_db_thread

__all__ = ["Looking", "Page", "Row", "follow", "follow_run", "look_at", "open_page"]


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
    async with hub().tail(thread_id) as tail:
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
async def open_page(page: Page) -> AsyncIterator[None]:
    """
    Tell an open page what changes in its reader's teams, and who else is there.

    The first word is hello, as soon as everything that changes from then on is heard.
    """
    mine = hub()
    try:
        await mine.add_page(page)
        yield
    finally:
        await mine.remove_page(page)


async def look_at(page: Page, at: Looking | None) -> None:
    """The page shows another interrupt now, or none."""
    if at != page.looking_at:
        page.looking_at = at
        await hub().announce([page])
