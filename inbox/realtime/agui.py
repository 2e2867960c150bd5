"""The AG-UI door over WebSocket: the first frame is the input, then one event per frame."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer

from agents.agui import strict_json
from inbox.agui_server import gateway
from inbox.platform import rate_limits
from inbox.platform.client_ip import household_of
from inbox.platform.db_executor import in_db_thread
from inbox.queries.people.api_keys import check_is_known_still
from inbox.realtime.websocket_auth import (
    CLOSE_BAD_INPUT,
    CLOSE_TOO_LATE,
    address_of_scope,
    caller_of_scope,
    close_code_of,
    query_of,
)
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import Refusal
from inbox.rules.people.access import Actor

log = structlog.get_logger(__name__)

#: How long a socket may be open without its input, and how many may be so in one process.
FIRST_FRAME_SECONDS = 10.0
MOST_WAITING_OF_CALLER, MOST_WAITING_FROM_ADDRESS = 50, 200


class AguiConsumer(AsyncWebsocketConsumer):
    """One socket, one run; closed after the terminal event. The run goes on without it."""

    async def connect(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._waiting: asyncio.Task[None] | None = None
        try:
            self._actor = await caller_of_scope(self.scope)
            self._leave_waiting = _wait(self._actor, address_of_scope(self.scope))
        except Refusal as refusal:
            await self.close(close_code_of(refusal))
            return
        await self.accept()
        self._waiting = asyncio.create_task(self._expire())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self._task is not None:
            await self._refuse("INVALID_INPUT", "One socket carries one run; open another one.")
            return
        self._stop_waiting()
        self._task = asyncio.create_task(self._serve(text_data or bytes_data or b""))

    async def disconnect(self, code: int) -> None:
        self._stop_waiting()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _expire(self) -> None:
        await asyncio.sleep(FIRST_FRAME_SECONDS)
        self._leave_waiting()
        message = f"Send the input within {FIRST_FRAME_SECONDS:g} seconds."
        await self._refuse("INVALID_INPUT", message, CLOSE_TOO_LATE)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._leave_waiting()

    async def _serve(self, frame: str | bytes) -> None:
        slug: str = self.scope["url_route"]["kwargs"]["slug"]
        try:
            await in_db_thread(check_is_known_still, self._actor)
            rate_limits.take_stream(self._actor)
            answer = await gateway.run(
                self._actor,
                slug,
                strict_json.loads(frame),
                self._dialect(),
                entrance=Entrance.AGUI_WEBSOCKET,
            )
        except strict_json.JsonRejected as error:
            await self._refuse("INVALID_INPUT", str(error))
        except Refusal as refusal:
            await self._refuse(refusal.code, refusal.message, close_code_of(refusal))
        except Exception:
            log.exception("door failed", agent=slug)
            await self._refuse("INTERNAL_ERROR", "Something went wrong here; it is in the log.")
        else:
            await self._send_all(answer)
            await self.close()

    def _dialect(self) -> str:
        return dict(query_of(self.scope)).get("dialect", "canonical")

    async def _send_all(self, answer: gateway.Answer) -> None:
        await self._send(answer.bodies)
        rows: Any = answer.rows()
        if rows is not None:
            async with aclosing(rows) as chunks:
                async for chunk in chunks:
                    await self._send([row.body for row in chunk])

    async def _send(self, bodies: Sequence[str]) -> None:
        for body in bodies:
            await self.send(text_data=body)

    async def _refuse(self, code: str, message: str, close_code: int = CLOSE_BAD_INPUT) -> None:
        """Say what is wrong as the only event of the stream: bad frames are no reason to crash."""
        await self.send(text_data=gateway.run_error(code, message))
        await self.close(close_code)


def _wait(actor: Actor, address: str) -> Callable[[], None]:
    """Take the places of a socket that has no input yet. Raises RateLimited."""
    return rate_limits.places.take(
        {
            f"waiting sockets of {actor.kind}:{actor.ident}": MOST_WAITING_OF_CALLER,
            f"waiting sockets from {household_of(address)}": MOST_WAITING_FROM_ADDRESS,
        }
    )
