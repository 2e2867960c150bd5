"""Server-sent events: the log of a thread, and the frames of one run."""

import time
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import aclosing

from django.http import StreamingHttpResponse

from inbox.feed import EventRow

KEEP_ALIVE = ": keep-alive\n\n"
KEEP_ALIVE_SECONDS = 15.0


def sse(row: EventRow) -> str:
    """One event, its cursor in `id:` and never in the event; LF only, clients split on it."""
    return f"id: {row.seq}\ndata: {row.body}\n\n"


def unnumbered(body: str) -> str:
    """An event that is for this client only and not in the log."""
    return f"data: {body}\n\n"


async def encoded(
    chunks: AsyncIterator[Collection[EventRow]], before: Iterable[str] = ()
) -> AsyncIterator[bytes]:
    """Each chunk of rows as one write, whatever the number of events in it."""
    # Daphne sends the headers with the first byte, and a follower may wait long for an event.
    yield "".join([KEEP_ALIVE, *map(unnumbered, before)]).encode()
    written_at = time.monotonic()
    async with aclosing(chunks) as rows:  # type: ignore[type-var]
        async for chunk in rows:
            if chunk:
                yield "".join(map(sse, chunk)).encode()
            elif time.monotonic() - written_at > KEEP_ALIVE_SECONDS:
                yield KEEP_ALIVE.encode()
            else:
                continue
            written_at = time.monotonic()


async def only(bodies: Iterable[str]) -> AsyncIterator[bytes]:
    """A stream of nothing but these events."""
    yield "".join(map(unnumbered, bodies)).encode()


def stream(content: AsyncIterator[bytes]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(content, content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response
