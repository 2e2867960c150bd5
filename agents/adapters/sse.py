"""Server-sent events from somebody who is not trusted: nothing is kept beyond its bounds."""

from collections.abc import AsyncIterator

LONGEST_EVENT_BYTES = 1024 * 1024
MOST_BYTES = 50 * 1024 * 1024


class StreamTooLong(ValueError):
    """An event, or all of them, are longer than anybody has a use for."""


async def read_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """
    Yield the data of each event, lines joined; comments and other fields are passed over.

    What is not ended by an empty line is no event.

    Raises:
        StreamTooLong.
    """
    rest, data, size, total = b"", list[bytes](), 0, 0
    async for chunk in chunks:
        total += len(chunk)
        if total > MOST_BYTES:
            raise StreamTooLong(f"more than {MOST_BYTES} bytes")
        # A line may end with CR, LF or both; a CR at the end may be half of both.
        text = rest + chunk
        whole = text[:-1] if text.endswith(b"\r") else text
        *lines, rest = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        rest += text[len(whole) :]
        for line in lines:
            if not line:
                if data:
                    yield b"\n".join(data)
                data, size = [], 0
            elif line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
                size += len(line)
        if size + len(rest) > LONGEST_EVENT_BYTES:
            raise StreamTooLong(f"an event of more than {LONGEST_EVENT_BYTES} bytes")
