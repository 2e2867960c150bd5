"""The AG-UI door over WebSocket: the first frame is the input, then one event per frame."""

import asyncio
import contextlib
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer

from agents.agui import strict_json
from inbox import door
from inbox.db_threads import in_db_thread
from inbox.domain.errors import Refusal
from inbox.domain.gate import Entrance
from inbox.rates import count_caller
from inbox.realtime.callers import CLOSE_BAD_INPUT, CLOSE_UNAUTHENTICATED, actor_of_scope, query_of

log = structlog.get_logger(__name__)


class AguiConsumer(AsyncWebsocketConsumer):
    """One socket, one run; closed after the terminal event. The run goes on without it."""

    async def connect(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._actor = await actor_of_scope(self.scope)
        if self._actor is None:
            await self.close(CLOSE_UNAUTHENTICATED)
            return
        await self.accept()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self._task is not None:
            await self._refuse("INVALID_INPUT", "One socket carries one run; open another one.")
            return
        self._task = asyncio.create_task(self._serve(text_data or bytes_data or b""))

    async def disconnect(self, code: int) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _serve(self, frame: str | bytes) -> None:
        slug: str = self.scope["url_route"]["kwargs"]["slug"]
        try:
            await in_db_thread(count_caller, self._actor)  # type: ignore[arg-type]
            answer = await door.run(
                self._actor,  # type: ignore[arg-type]
                slug,
                strict_json.loads(frame),
                self._dialect(),
                entrance=Entrance.AGUI_WEBSOCKET,
            )
        except strict_json.JsonRejected as error:
            await self._refuse("INVALID_INPUT", str(error))
        except Refusal as refusal:
            await self._refuse(refusal.code, refusal.message)
        except Exception:
            log.exception("door failed", agent=slug)
            await self._refuse("INTERNAL_ERROR", "Something went wrong here; it is in the log.")
        else:
            await self._send_all(answer)
            await self.close()

    def _dialect(self) -> str:
        return dict(query_of(self.scope)).get("dialect", "canonical")

    async def _send_all(self, answer: door.Answer) -> None:
        await self._send(answer.bodies)
        rows: Any = answer.rows()
        if rows is not None:
            async with aclosing(rows) as chunks:
                async for chunk in chunks:
                    await self._send([row.body for row in chunk])

    async def _send(self, bodies: Sequence[str]) -> None:
        for body in bodies:
            await self.send(text_data=body)

    async def _refuse(self, code: str, message: str) -> None:
        """Say what is wrong as the only event of the stream: bad frames are no reason to crash."""
        await self.send(text_data=door.run_error(code, message))
        await self.close(CLOSE_BAD_INPUT)
