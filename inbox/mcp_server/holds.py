"""Waiting for decisions, without a thread: the hub wakes whoever holds."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from inbox.feed import watch
from inbox.platform.db_executor import in_db_thread

#: Hosts give up after 60 s without a byte.
PROGRESS_SECONDS = 10.0

T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """Sent while somebody holds; the numbers of one hold increase."""

    seconds: float
    total: float
    message: str


async def hold(
    thread_id: UUID,
    read: Callable[[], T | None],
    *,
    seconds: float,
    message: str,
    every: float = PROGRESS_SECONDS,
) -> AsyncGenerator[Progress | T | None, None]:
    """
    Yield progress until `read` returns something; then yield that, or None after `seconds`.

    `read` is called in a thread of the database: first, after each change, and last.
    """
    loop = asyncio.get_running_loop()
    begin = loop.time()
    yield Progress(0, seconds, message)
    async with watch(thread_id) as changed:
        next_progress = begin + every
        while True:
            changed.clear()
            outcome = await in_db_thread(read)
            if outcome is not None or loop.time() >= begin + seconds:
                yield outcome
                return
            while not changed.is_set() and loop.time() < begin + seconds:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(min(next_progress, begin + seconds)):
                        await changed.wait()
                if loop.time() >= next_progress:
                    yield Progress(round(loop.time() - begin, 3), seconds, message)
                    next_progress += every
