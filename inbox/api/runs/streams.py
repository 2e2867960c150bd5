"""Server-sent events: rows of the feed as frames."""

from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import aclosing
from functools import lru_cache

from django.http import StreamingHttpResponse

from inbox.feed import EventRow

KEEP_ALIVE = ": keep-alive\n\n"


# Followers of a thread are at most a few events apart, and share the encoded frames.
@lru_cache(maxsize=16)
def sse(row: EventRow) -> bytes:
    """Return one frame; its `id:` is the cursor. LF only, because clients split on it."""
    return f"id: {row.seq}\ndata: {row.body}\n\n".encode()


def unnumbered(body: str) -> str:
    """Return a frame for this client only, which is not in the log."""
    return f"data: {body}\n\n"


async def encoded(
    chunks: AsyncIterator[Collection[EventRow]], before: Iterable[str] = ()
) -> AsyncIterator[bytes]:
    """Yield each chunk of rows as one write."""
    # Daphne sends the headers with the first byte, and the first event may be far away.
    yield "".join([KEEP_ALIVE, *map(unnumbered, before)]).encode()
    async with aclosing(chunks) as rows:  # type: ignore[type-var]
        async for chunk in rows:
            yield b"".join(map(sse, chunk)) or KEEP_ALIVE.encode()


async def only(bodies: Iterable[str]) -> AsyncIterator[bytes]:
    """Yield these events and end."""
    yield "".join(map(unnumbered, bodies)).encode()


def stream(content: AsyncIterator[bytes]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(content, content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response
