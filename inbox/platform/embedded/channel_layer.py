"""A channel layer inside one process that may be rung from any thread."""

import asyncio
from typing import Any

from channels.layers import InMemoryChannelLayer


class EmbeddedChannelLayer(InMemoryChannelLayer):
    """
    Hands every message to the event loop that waits for it.

    The stock layer puts it into an asyncio queue from whatever thread is sending: the loop is not
    woken, and a burst arrives half a second late or not at all.
    """

    def __init__(self, **kwargs: Any) -> None:
        # Memberships do not expire: the hub's lasts as long as the process.
        super().__init__(capacity=10_000, group_expiry=10**9, **kwargs)
        self._loops: dict[str, asyncio.AbstractEventLoop] = {}

    async def group_add(self, group: str, channel: str) -> None:
        self._loops[channel] = asyncio.get_running_loop()
        await super().group_add(group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        self._loops.pop(channel, None)
        await super().group_discard(group, channel)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        self.group_send_now(group, message)

    def group_send_now(self, group: str, message: dict[str, Any]) -> None:
        """Send from a thread that has no event loop, at the cost of one wake-up."""
        for channel in list(self.groups.get(group, ())):
            loop = self._loops.get(channel)
            if loop is not None and not loop.is_closed():
                loop.call_soon_threadsafe(self._deliver, channel, message)

    def _deliver(self, channel: str, message: dict[str, Any]) -> None:
        queue = self.channels.setdefault(channel, asyncio.Queue(self.get_capacity(channel)))
        if not queue.full():
            # A full queue means that a look is due anyway; what is dropped carries no facts.
            queue.put_nowait((float("inf"), message))
