"""Server-sent events from somebody who is not trusted: nothing is kept beyond its bounds."""

from collections.abc import AsyncIterator

MAX_EVENT_BYTES = 1024 * 1024
MAX_STREAM_BYTES = 50 * 1024 * 1024


class StreamTooLong(ValueError):
    """An event, or all of them, are longer than anybody has a use for."""


async def read_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """
    Yield the data of each event, lines joined; comments and other fields are passed over.

    What is not ended by an empty line is no event.

    Raises:
        StreamTooLong.
    """
    rest, data, size, total = bytearray(), list[bytes](), 0, 0
    is_behind_cr = False
    async for chunk in chunks:
        total += len(chunk)
        if total > MAX_STREAM_BYTES:
            raise StreamTooLong(f"more than {MAX_STREAM_BYTES} bytes")
        # A line may end with CR, LF or both. Each byte is looked at once, however small the chunks.
        text = chunk.removeprefix(b"\n") if is_behind_cr else chunk
        is_behind_cr = chunk.endswith(b"\r") if chunk else is_behind_cr
        *ends, begun = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for end in ends:
            line = bytes(rest + end)
            rest.clear()
            if not line:
                if data:
                    yield b"\n".join(data)
                data, size = [], 0
            elif line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
                size += len(line)
        rest += begun
        if size + len(rest) > MAX_EVENT_BYTES:
            raise StreamTooLong(f"an event of more than {MAX_EVENT_BYTES} bytes")
