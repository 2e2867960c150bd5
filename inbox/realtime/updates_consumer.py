"""What open pages listen to: that something has changed, who has decided, and who is there."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer

from inbox.feed import Looking, Page, follow, look_at, open_page
from inbox.platform.db_executor import in_db_thread
from inbox.queries.decisions.interrupts import interrupt_for
from inbox.queries.people.access import is_allowed_still
from inbox.queries.people.live_access import Reader, standings_of
from inbox.queries.runs.threads import thread_for
from inbox.realtime.presence_messages import read_here
from inbox.realtime.websocket_auth import (
    CLOSE_BAD_INPUT,
    CLOSE_FORBIDDEN,
    CLOSE_NOT_FOUND,
    CLOSE_UNAUTHENTICATED,
    caller_of_scope,
    close_code_of,
    query_of,
)
from inbox.rules.errors import Refusal
from inbox.rules.people.access import Actor

#: A page that says nonsense this often has lost its mind, or is none.
MOST_NONSENSE = 5
#: Who leafs through the list says where they are; nobody leafs faster than this.
MOST_MOVES, MOVES_SECONDS = 50, 10.0


class LiveConsumer(AsyncWebsocketConsumer):
    """
    `/ws/live/` pokes when interrupts or runs of the person's teams change, `?thread=<id>` also
    when that thread's log grows. The page then reads again, and reading asks for permission. Only
    who decided which interrupt comes with the poke, so that nobody answers in vain meanwhile.

    With `?interrupt=<id>`, or when the page says later that it shows one, the others who look at it
    are told, and the page is told of them. It ends with 4403 when its reader signs out or leaves a
    team.
    """

    async def connect(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._nonsense, self._moves, self._moving_since = 0, 0, 0.0
        try:
            actor = self._actor = await caller_of_scope(self.scope)
        except Refusal as refusal:
            await self.close(close_code_of(refusal))
            return
        reader = Reader(actor, actor.session_key)
        try:
            page, thread = await in_db_thread(self._enter, reader, self._asked())
        except Refusal:
            await self.close(CLOSE_NOT_FOUND)
            return
        if page is None:
            await self.close(CLOSE_UNAUTHENTICATED)
            return
        self._page = page
        await self.accept()
        self._tasks.append(asyncio.create_task(self._tell(page)))
        if thread is not None:
            may_read = partial(is_allowed_still, actor, thread.team_id)
            follow_it = self._poke_thread(thread.pk, thread.next_seq - 1, may_read)
            self._tasks.append(asyncio.create_task(follow_it))

    async def disconnect(self, code: int) -> None:
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take where the page is now; anything else is ignored, and often enough the end."""
        try:
            interrupt_id = read_here(text_data)
            self._count_move()
            at = await in_db_thread(_looking_at, self._actor, interrupt_id)
        except (ValueError, Refusal):
            self._nonsense += 1
            if self._nonsense >= MOST_NONSENSE:
                await self.close(CLOSE_BAD_INPUT)
            return
        await look_at(self._page, at)

    def _enter(self, reader: Reader, asked: dict[str, UUID]) -> tuple[Page | None, Any]:
        """The page, unless its session is over, and the thread that it follows."""
        (standing,) = standings_of([reader])
        if standing is None:
            return None, None
        thread = thread_for(reader.actor, asked["thread"]) if "thread" in asked else None
        return Page(reader, standing, _looking_at(reader.actor, asked.get("interrupt"))), thread

    def _asked(self) -> dict[str, UUID]:
        """The ids in the address; what is no id is not asked for."""
        asked = {}
        for name, value in query_of(self.scope):
            with contextlib.suppress(ValueError):
                asked[name] = UUID(value)
        return asked

    def _count_move(self) -> None:
        now = time.monotonic()
        if now - self._moving_since > MOVES_SECONDS:
            self._moves, self._moving_since = 0, now
        self._moves += 1
        if self._moves > MOST_MOVES:
            raise ValueError("faster than anybody reads")

    async def _tell(self, page: Page) -> None:
        async with open_page(page):
            while (pokes := await page.pokes()) is not None:
                for poke in pokes:
                    await self._send(poke)
        await self.close(CLOSE_FORBIDDEN)

    async def _poke_thread(self, thread_id: UUID, after: int, may_read: Callable[[], bool]) -> None:
        chunks: Any = follow(thread_id, after, may_read)
        async with aclosing(chunks) as rows:
            async for chunk in rows:
                if not chunk:
                    continue
                poke = {"type": "thread", "thread": str(thread_id), "seq": chunk[-1].seq}
                await self._send(poke)
        await self.close(CLOSE_FORBIDDEN)

    async def _send(self, poke: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(poke))


def _looking_at(actor: Actor, interrupt_id: UUID | None) -> Looking | None:
    """Raises NotFound or Forbidden: nobody is there where they may not be."""
    if interrupt_id is None:
        return None
    row = interrupt_for(actor, interrupt_id)
    return Looking(str(row.pk), str(row.team_id))
