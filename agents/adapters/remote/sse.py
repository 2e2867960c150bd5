"""Parsing of server-sent events from untrusted servers, with size limits."""

from collections.abc import AsyncIterator

MAX_EVENT_BYTES = 1024 * 1024
MAX_STREAM_BYTES = 50 * 1024 * 1024


class StreamTooLong(ValueError):
    """An event or the stream exceeds its size limit."""


async def read_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """
    Yield the data of each event, lines joined; skip comments and other fields.

    An event without a final empty line is dropped.

    Raises:
        StreamTooLong.
    """
    line_start, data, size, total = bytearray(), list[bytes](), 0, 0
    ends_with_cr = False
    async for chunk in chunks:
        total += len(chunk)
        if total > MAX_STREAM_BYTES:
            raise StreamTooLong(f"more than {MAX_STREAM_BYTES} bytes")
        # A line may end with CR, LF or both. Each byte is processed once, however small the chunks.
        text = chunk.removeprefix(b"\n") if ends_with_cr else chunk
        ends_with_cr = chunk.endswith(b"\r") if chunk else ends_with_cr
        *line_ends, remainder = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line_end in line_ends:
            line = bytes(line_start + line_end)
            line_start.clear()
            if not line:
                if data:
                    yield b"\n".join(data)
                data, size = [], 0
            elif line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
                size += len(line)
        line_start += remainder
        if size + len(line_start) > MAX_EVENT_BYTES:
            raise StreamTooLong(f"an event of more than {MAX_EVENT_BYTES} bytes")
