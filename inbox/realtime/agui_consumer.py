"""AG-UI server over WebSocket: the first frame is the input, then one event per frame."""

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
from inbox.platform.client_ip import client_ip_of_scope, ipv6_network_of
from inbox.platform.db_executor import in_db_thread
from inbox.queries.people.api_keys import check_credentials_valid
from inbox.realtime.websocket_auth import (
    CLOSE_BAD_INPUT,
    CLOSE_TOO_LATE,
    authenticate,
    close_code_of,
    query_of,
)
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import Actor

log = structlog.get_logger(__name__)

#: Bounds of sockets that have not sent their input yet: time, and number per process.
FIRST_FRAME_SECONDS = 10.0
MAX_IDLE_PER_CALLER, MAX_IDLE_PER_ADDRESS = 50, 200


class AguiConsumer(AsyncWebsocketConsumer):
    """A socket for one run, closed after the terminal event; the run does not depend on it."""

    async def connect(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._idle_timeout: asyncio.Task[None] | None = None
        try:
            self._actor = await in_db_thread(authenticate, self.scope)
            self._release_idle_slot = _take_idle_slot(self._actor, client_ip_of_scope(self.scope))
        except RequestRejected as refusal:
            await self.close(close_code_of(refusal))
            return
        await self.accept()
        self._idle_timeout = asyncio.create_task(self._close_when_idle())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self._task is not None:
            self._task.cancel()  # or its next event could follow the error
            await self._refuse("INVALID_INPUT", "One socket carries one run; open another one.")
            return
        self._stop_idle_timeout()
        self._task = asyncio.create_task(self._serve(text_data or bytes_data or b""))

    async def disconnect(self, code: int) -> None:
        self._stop_idle_timeout()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _close_when_idle(self) -> None:
        await asyncio.sleep(FIRST_FRAME_SECONDS)
        self._release_idle_slot()
        message = f"Send the input within {FIRST_FRAME_SECONDS:g} seconds."
        await self._refuse("INVALID_INPUT", message, CLOSE_TOO_LATE)

    def _stop_idle_timeout(self) -> None:
        if self._idle_timeout is not None:
            self._idle_timeout.cancel()
            self._release_idle_slot()

    async def _serve(self, frame: str | bytes) -> None:
        slug: str = self.scope["url_route"]["kwargs"]["slug"]
        try:
            await in_db_thread(check_credentials_valid, self._actor)
            rate_limits.take_stream(self._actor)
            response = await gateway.run(
                self._actor,
                slug,
                strict_json.loads(frame),
                dict(query_of(self.scope)).get("dialect", "canonical"),
                entrance=Entrance.AGUI_WEBSOCKET,
            )
        except strict_json.JsonRejected as error:
            await self._refuse("INVALID_INPUT", str(error))
        except RequestRejected as refusal:
            await self._refuse(refusal.code, refusal.message, close_code_of(refusal))
        except Exception:
            log.exception("AG-UI request failed", agent=slug)
            await self._refuse("INTERNAL_ERROR", "Internal error. The server log has the details.")
        else:
            await self._send_all(response)
            await self.close()

    async def _send_all(self, response: gateway.AguiResponse) -> None:
        await self._send(response.bodies)
        rows: Any = response.rows()
        if rows is not None:
            async with aclosing(rows) as chunks:
                async for chunk in chunks:
                    await self._send([row.body for row in chunk])

    async def _send(self, bodies: Sequence[str]) -> None:
        for body in bodies:
            await self.send(text_data=body)

    async def _refuse(self, code: str, message: str, close_code: int = CLOSE_BAD_INPUT) -> None:
        """Send a RUN_ERROR as the only event of the stream and close the socket."""
        await self.send(text_data=gateway.run_error(code, message))
        await self.close(close_code)


def _take_idle_slot(actor: Actor, address: str) -> Callable[[], None]:
    """
    Count a socket without input and return the function that releases its slot.

    Raises:
        RateLimited.
    """
    return rate_limits.concurrency_slots.take(
        {
            f"waiting sockets of {actor.kind}:{actor.ident}": MAX_IDLE_PER_CALLER,
            f"waiting sockets from {ipv6_network_of(address)}": MAX_IDLE_PER_ADDRESS,
        }
    )
