"""
Channel layer for one process that any thread may send to.

Why: channels' InMemoryChannelLayer puts messages into an asyncio queue from the sender's thread.
That does not wake the receiving event loop: messages arrive half a second late or not at all.
It is meant for tests (https://github.com/django/channels/issues/1574).
Remove when: InMemoryChannelLayer delivers with `call_soon_threadsafe`.
"""

import asyncio
from typing import Any

from channels.layers import InMemoryChannelLayer


class EmbeddedChannelLayer(InMemoryChannelLayer):
    """A layer that hands every message to the event loop of its receiver."""

    def __init__(self, **kwargs: Any) -> None:
        # Memberships do not expire: the hub subscribes once per process.
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
        """Send from a thread that has no event loop."""
        for channel in list(self.groups.get(group, ())):
            loop = self._loops.get(channel)
            if loop is not None and not loop.is_closed():
                loop.call_soon_threadsafe(self._deliver, channel, message)

    def _deliver(self, channel: str, message: dict[str, Any]) -> None:
        queue = self.channels.setdefault(channel, asyncio.Queue(self.get_capacity(channel)))
        if not queue.full():
            # Messages carry no facts: with a full queue the receiver reads everything anyway.
            queue.put_nowait((float("inf"), message))
