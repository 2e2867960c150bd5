"""Subscriptions of open pages: pending messages, merged until the page's socket takes them."""

import asyncio
from typing import Any
from uuid import uuid4

from inbox.queries.people.live_access import LiveAccess
from inbox.rules.people.access import Actor

_MAX_PENDING = 100


class Subscription:
    """
    The subscription of one socket to changes in its reader's teams.

    `viewed_interrupt` is the id of the interrupt that the page shows, or None.
    """

    def __init__(
        self, actor: Actor, access: LiveAccess, viewed_interrupt: str | None = None
    ) -> None:
        self.key = uuid4().hex
        self.actor = actor
        self.access = access
        self.viewed_interrupt = viewed_interrupt
        self._is_ready_pending = False
        self._threads: dict[str, None] = {}  # used as an ordered set
        self._decisions: list[dict[str, Any]] = []
        self._pending_presence: dict[str, Any] | None = None
        self._last_presence: dict[str, Any] | None = None
        self._is_ended = False
        self._has_messages = asyncio.Event()

    def ready(self) -> None:
        """Tell the page to read again: later changes are delivered, earlier ones may be missed."""
        self._is_ready_pending = True
        self._has_messages.set()

    def changed(self, thread_id: str, decided: dict[str, Any] | None = None) -> None:
        """
        Tell the page that interrupts or runs of a thread have changed.

        `decided` has the ids of the `interrupts` that were decided, and the name of the person
        (`by`). Messages above the limit are dropped: one of them makes the page read everything.
        """
        if len(self._threads) < _MAX_PENDING:
            self._threads[thread_id] = None
            self._has_messages.set()
        if decided and len(self._decisions) < _MAX_PENDING:
            self._decisions.append(decided)

    def update_presence(self, presence: dict[str, Any]) -> None:
        """Tell the page who is present, if that differs from the last message."""
        if presence != self._last_presence:
            self._pending_presence = self._last_presence = presence
            self._has_messages.set()

    def end(self) -> None:
        """End the subscription, because its reader lost access."""
        self._is_ended = True
        self._has_messages.set()

    async def messages(self) -> list[dict[str, Any]] | None:
        """Wait for messages and return them; None once the subscription has ended."""
        await self._has_messages.wait()
        self._has_messages.clear()
        if self._is_ended:
            return None
        messages: list[dict[str, Any]] = [{"type": "hello"}] if self._is_ready_pending else []
        messages += [{"type": "decided", **decided} for decided in self._decisions]
        messages += [{"type": "inbox", "thread": thread} for thread in self._threads]
        messages += [self._pending_presence] if self._pending_presence else []
        self._is_ready_pending, self._pending_presence = False, None
        self._threads, self._decisions = {}, []
        return messages
