"""An open page, and what it is still to be told: once, however often things change meanwhile."""

import asyncio
from typing import Any, NamedTuple
from uuid import uuid4

from inbox.queries.people.live_access import Reader, Standing

_MOST_THREADS = 100


class Looking(NamedTuple):
    """The interrupt that a page shows, and the team that it belongs to; both ids."""

    interrupt: str
    team: str


class Page:
    """One socket of somebody who reads along."""

    def __init__(self, reader: Reader, standing: Standing, at: Looking | None = None) -> None:
        self.key = uuid4().hex
        self.reader = reader
        self.standing = standing
        self.looking_at = at
        self._says_hello = False
        self._threads: dict[str, None] = {}  # a dict, because it keeps the order
        self._decided: list[dict[str, Any]] = []
        self._picture: dict[str, Any] | None = None
        self._shown: dict[str, Any] | None = None
        self._is_over = False
        self._changed = asyncio.Event()

    def say_hello(self) -> None:
        """From now on nothing is missed: what changed before has to be read."""
        self._says_hello = True
        self._changed.set()

    def poke(self, thread_id: str, decided: dict[str, Any] | None = None) -> None:
        """
        Something about this thread has changed; that many at once are as good as all.

        `decided` has the ids of `interrupts` that were decided, and `by` whom.
        """
        if len(self._threads) < _MOST_THREADS:
            self._threads[thread_id] = None
            self._changed.set()
        if decided and len(self._decided) < _MOST_THREADS:
            self._decided.append(decided)

    def show(self, picture: dict[str, Any]) -> None:
        """Who is there; nothing is said while it stays the same."""
        if picture != self._shown:
            self._picture = self._shown = picture
            self._changed.set()

    def end(self) -> None:
        """Whoever reads here may not any more."""
        self._is_over = True
        self._changed.set()

    async def pokes(self) -> list[dict[str, Any]] | None:
        """Wait for something to tell; None when there is nothing to be told ever again."""
        await self._changed.wait()
        self._changed.clear()
        if self._is_over:
            return None
        pokes: list[dict[str, Any]] = [{"type": "hello"}] if self._says_hello else []
        pokes += [{"type": "decided", **decided} for decided in self._decided]
        pokes += [{"type": "inbox", "thread": thread} for thread in self._threads]
        pokes += [self._picture] if self._picture else []
        self._says_hello, self._threads, self._decided, self._picture = False, {}, [], None
        return pokes
