"""What open pages listen to: a word that something has changed, never what."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer

from inbox.db_threads import in_db_thread
from inbox.domain.errors import Refusal
from inbox.feed import follow, watch_teams
from inbox.realtime.callers import (
    CLOSE_FORBIDDEN,
    CLOSE_NOT_FOUND,
    CLOSE_UNAUTHENTICATED,
    actor_of_scope,
)
from inbox.selectors.access import is_allowed_still, teams_of
from inbox.selectors.threads import thread_for


class LiveConsumer(AsyncWebsocketConsumer):
    """
    `/ws/live/` pokes when interrupts or runs of the person's teams change, `?thread=<id>` also
    when that thread's log grows. The page then reads again, and reading asks for permission.
    """

    async def connect(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        actor = await actor_of_scope(self.scope)
        if actor is None:
            await self.close(CLOSE_UNAUTHENTICATED)
            return
        teams = await in_db_thread(teams_of, actor)
        thread_id = self._asked_thread()
        after = 0
        if thread_id is not None:
            try:
                thread = await in_db_thread(thread_for, actor, thread_id)
                after = thread.next_seq - 1
            except Refusal:
                await self.close(CLOSE_NOT_FOUND)
                return
        await self.accept()
        self._tasks.append(asyncio.create_task(self._poke_teams([str(team) for team in teams])))
        if thread_id is not None:
            may_read = partial(is_allowed_still, actor, thread.team_id)
            self._tasks.append(asyncio.create_task(self._poke_thread(thread_id, after, may_read)))

    async def disconnect(self, code: int) -> None:
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Nothing is taken from pages here: they act over HTTP."""

    async def _poke_teams(self, teams: list[str]) -> None:
        async with watch_teams(teams) as changes:
            await self._send({"type": "hello"})
            while True:
                await self._send({"type": "inbox", "thread": await changes.get()})

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

    def _asked_thread(self) -> UUID | None:
        query = self.scope["query_string"].decode("latin-1")
        name, _, value = query.partition("=")
        try:
            return UUID(value) if name == "thread" else None
        except ValueError:
            return None
