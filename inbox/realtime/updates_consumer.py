"""WebSocket of open pages: sends what has changed, who has decided, and who else is present."""

import asyncio
import contextlib
import json
import random
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import InterfaceError, OperationalError

from agents.agui import strict_json
from inbox.feed import (
    Subscription,
    follow,
    set_viewed_interrupt,
    subscribe,
    take_socket_of_teams,
)
from inbox.platform import rate_limits
from inbox.platform.db_executor import in_db_thread
from inbox.queries.audit.team_position import position_of
from inbox.queries.decisions.interrupts import interrupt_for
from inbox.queries.people.live_access import TeamReader, live_access_of
from inbox.queries.runs.threads import thread_for
from inbox.realtime.websocket_auth import (
    CLOSE_BAD_INPUT,
    CLOSE_FORBIDDEN,
    CLOSE_NOT_FOUND,
    CLOSE_UNAUTHENTICATED,
    authenticate,
    close_code_of,
    query_of,
)
from inbox.rules.errors import RateLimited, RequestRejected
from inbox.rules.people.access import Actor

if TYPE_CHECKING:
    from inbox import models


#: Close the socket after this many invalid messages.
MAX_INVALID_MESSAGES = 5
#: Rate limit for presence updates: a person who pages through the list sends one per request.
MAX_PRESENCE_UPDATES, PRESENCE_UPDATES_SECONDS = 50, 10.0
#: The interval of checks whether a page may have missed a change, whose wake-up was lost.
POSITION_SECONDS = 30.0
_MAX_FRAME_CHARACTERS = 200


class UpdatesConsumer(AsyncWebsocketConsumer):
    """
    The socket `/ws/live/` of a page.

    It sends a message when interrupts or runs of the person's teams change, with `?thread=<id>`
    also when that thread's log grows. The page then reads again, which checks permissions. Messages
    carry no facts except which interrupts were decided and by whom, so that nobody answers them
    meanwhile.

    With `?interrupt=<id>`, or after a "here" message from the page, its presence is announced to
    the others who view that interrupt. The socket is closed with 4403 when its reader signs out or
    leaves a team.
    """

    async def connect(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._position: str | None = None
        self._invalid_messages = 0
        self._presence_updates, self._presence_window_at = 0, 0.0
        try:
            actor = self._actor = await in_db_thread(authenticate, self.scope)
        except RequestRejected as refusal:
            await self.close(close_code_of(refusal))
            return
        try:
            subscription, thread = await in_db_thread(self._load, actor, self._query_ids())
        except RateLimited as refusal:
            await self.close(close_code_of(refusal))
            return
        except RequestRejected:
            await self.close(CLOSE_NOT_FOUND)
            return
        if subscription is None:
            await self.close(CLOSE_UNAUTHENTICATED)
            return
        self._subscription = subscription
        await self.accept()
        self._tasks.append(asyncio.create_task(self._send_messages(subscription)))
        self._tasks.append(asyncio.create_task(self._watch_position(subscription)))
        if thread is not None:
            team_reader = TeamReader(actor, thread.team_id)
            follow_thread = self._follow_thread(thread.pk, thread.next_seq - 1, team_reader)
            self._tasks.append(asyncio.create_task(follow_thread))

    async def disconnect(self, code: int) -> None:
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Announce which interrupt the page shows; count and ignore invalid messages."""
        try:
            interrupt_id = parse_presence_message(text_data)
            self._count_presence_update()
            viewed = await in_db_thread(_viewed_interrupt, self._actor, interrupt_id)
        except (ValueError, RequestRejected):
            self._invalid_messages += 1
            if self._invalid_messages >= MAX_INVALID_MESSAGES:
                await self.close(CLOSE_BAD_INPUT)
            return
        await set_viewed_interrupt(self._subscription, viewed)

    def _load(
        self, actor: Actor, ids: dict[str, UUID]
    ) -> tuple[Subscription | None, "models.Thread | None"]:
        """Return the subscription, None if the session has ended, and the thread to follow."""
        (access,) = live_access_of([actor])
        if access is None:
            return None, None
        rate_limits.take_stream(actor)
        take_socket_of_teams(access.reads)
        thread = thread_for(actor, ids["thread"]) if "thread" in ids else None
        viewed = _viewed_interrupt(actor, ids.get("interrupt"))
        return Subscription(actor, access, viewed), thread

    def _query_ids(self) -> dict[str, UUID]:
        """Return the ids in the query string; values that are not ids are ignored."""
        ids = {}
        for name, value in query_of(self.scope):
            with contextlib.suppress(ValueError):
                ids[name] = UUID(value)
        return ids

    def _count_presence_update(self) -> None:
        now = time.monotonic()
        if now - self._presence_window_at > PRESENCE_UPDATES_SECONDS:
            self._presence_updates, self._presence_window_at = 0, now
        self._presence_updates += 1
        if self._presence_updates > MAX_PRESENCE_UPDATES:
            raise ValueError("too many presence updates")

    async def _send_messages(self, subscription: Subscription) -> None:
        async with subscribe(subscription):
            while (messages := await subscription.messages()) is not None:
                if any(message["type"] != "presence" for message in messages):
                    # Before the page is told, which reads later.
                    self._position = await self._read_position()
                for message in messages:
                    if message["type"] == "hello":
                        # Every later change is delivered: a page at this position is up to date.
                        message["position"] = self._position or ""
                    await self._send(message)
        await self.close(CLOSE_FORBIDDEN)

    async def _watch_position(self, subscription: Subscription) -> None:
        """Tell the page to read again if a wake-up was lost; its own polls would cost far more."""
        while True:
            # Not all pages at the same time, after a server has started.
            await asyncio.sleep(POSITION_SECONDS * random.uniform(0.8, 1.2))  # noqa: S311
            await self._check_position(subscription)

    async def _check_position(self, subscription: Subscription) -> None:
        position = await self._read_position()
        if position is not None and self._position not in (None, position):
            subscription.ready()

    async def _read_position(self) -> str | None:
        with contextlib.suppress(OperationalError, InterfaceError):
            return await in_db_thread(position_of, self._actor)
        return None

    async def _follow_thread(self, thread_id: UUID, after: int, reader: TeamReader) -> None:
        chunks: Any = follow(thread_id, after, reader)
        async with aclosing(chunks) as rows:
            async for chunk in rows:
                if not chunk:
                    continue
                message = {"type": "thread", "thread": str(thread_id), "seq": chunk[-1].seq}
                await self._send(message)
        await self.close(CLOSE_FORBIDDEN)

    async def _send(self, message: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(message))


def parse_presence_message(frame: str | None) -> UUID | None:
    """
    Return the interrupt of `{"type": "here", "interrupt": "<id>"}`, or None for `null`.

    Raises:
        ValueError: the frame is anything else.
    """
    if frame is None or len(frame) > _MAX_FRAME_CHARACTERS:
        raise ValueError("not a short text frame")
    message = strict_json.loads(frame)
    if not isinstance(message, dict) or set(message) != {"type", "interrupt"}:
        raise ValueError("missing or unknown fields")
    interrupt_id = message["interrupt"]
    if message["type"] != "here" or not (interrupt_id is None or isinstance(interrupt_id, str)):
        raise ValueError("invalid values")
    if interrupt_id is None:
        return None
    parsed = UUID(interrupt_id)
    if str(parsed) != interrupt_id:
        raise ValueError("not the canonical form of an id")
    return parsed


def _viewed_interrupt(actor: Actor, interrupt_id: UUID | None) -> str | None:
    """
    Return the id of an interrupt that the actor may read.

    Raises:
        NotFound, Forbidden.
    """
    return None if interrupt_id is None else str(interrupt_for(actor, interrupt_id).pk)
