"""The client for asyncio; needs `pip install signoff-client[async]`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, overload
from urllib.parse import urlsplit
from uuid import uuid4

import httpx

from signoff_client import flows
from signoff_client.approvals import Approval, ApprovedFunction, Parameters
from signoff_client.arguments import UnknownArguments
from signoff_client.calls import StartedCall, log, started_call
from signoff_client.client import LEASE_SECONDS
from signoff_client.errors import EditRefused, SignoffError
from signoff_client.exchanges import (
    LARGEST_ANSWER,
    ConnectionLost,
    Pause,
    Reply,
    Result,
    Send,
    Steps,
)
from signoff_client.requests import Request, answer_of, require_approval
from signoff_client.settings import LOOPBACK, Duration, read_settings, to_seconds
from signoff_client.transport import request_headers


class AsyncSignoff:
    """Asks people in Signoff: `Signoff` for asyncio. Use it with `async with`, or close it."""

    def __init__(self, url: str = "", api_key: str = "", *, agent: str = "") -> None:
        self._settings = read_settings(url, api_key, agent)
        is_local = urlsplit(self._settings.url).hostname in LOOPBACK
        self._http = httpx.AsyncClient(
            base_url=self._settings.url, follow_redirects=False, trust_env=not is_local
        )

    async def __aenter__(self) -> AsyncSignoff:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def create_request(
        self, *, key: str = "", items: Sequence[Mapping[str, Any]] = (), **members: Any
    ) -> Request:
        """Ask, and return at once; see `Signoff.create_request`."""
        defaults = {"agent": self._settings.agent} if self._settings.agent else {}
        body = flows.request_members(defaults, members, items)
        return await self._run(flows.create(body, key=key))

    async def ask(
        self,
        question: str,
        *,
        schema: Mapping[str, Any] | None = None,
        wait: Duration = None,
        key: str = "",
        **members: Any,
    ) -> Any:
        """Ask a question and return the answer; see `Signoff.ask`."""
        if schema is not None:
            members["answer_schema"] = schema
        request = await self.create_request(key=key, title=question, **members)
        request = await self.wait(request, wait)
        return answer_of(request, request.item)

    async def get(self, request_id: str) -> Request:
        return await self._run(flows.get(request_id))

    async def list(self, **filters: str) -> list[Request]:
        """Return the newest requests, by session, status or agent."""
        return await self._run(flows.list_requests(filters))

    async def wait(self, request: Request | str, timeout: Duration = None) -> Request:
        """Wait until a request, or the one with this id, is decided; see `Signoff.wait`."""
        if isinstance(request, Request) and not request.is_open:
            return request
        request_id = request.id if isinstance(request, Request) else request
        return await self._run(flows.wait(request_id, to_seconds(timeout)))

    async def withdraw(self, request_id: str, reason: str = "") -> Request:
        return await self._run(flows.withdraw(request_id, reason))

    async def start_call(
        self,
        request: Request,
        item_id: str | None = None,
        *,
        effect: str = "once",
        lease_seconds: int = LEASE_SECONDS,
    ) -> StartedCall:
        """Use up an approval; run `call.args` then, and report with `report` how it ended."""
        item = request.find(item_id)
        require_approval(request, item)
        attempt = str(uuid4())
        answer = await self._run(flows.start(request, item, attempt, lease_seconds=lease_seconds))
        return started_call(
            request, item, attempt, answer, effect=effect, lease_seconds=lease_seconds
        )

    @asynccontextmanager
    async def start(
        self,
        request: Request,
        item_id: str | None = None,
        *,
        effect: str = "once",
        lease_seconds: int = LEASE_SECONDS,
    ) -> AsyncIterator[StartedCall]:
        """Use up an approval for the block, and report what becomes of it."""
        call = await self.start_call(request, item_id, effect=effect, lease_seconds=lease_seconds)
        try:
            async with self._lease(call):
                yield call
        except BaseException as error:
            await self._report(call.report_error(error))
            raise
        await self._report(call.report("succeeded"))

    async def report(
        self, request_id: str, item_id: str, attempt: str, outcome: str, **more: Any
    ) -> Mapping[str, Any]:
        """Report "succeeded", "failed" (it had no effect) or "unknown"."""
        return await self._run(flows.report(request_id, item_id, attempt, outcome, **more))

    @overload
    def requires_approval(
        self, function: Callable[Parameters, Result], /
    ) -> ApprovedFunction[Parameters, Result]: ...

    @overload
    def requires_approval(
        self, /, **options: Any
    ) -> Callable[[Callable[Parameters, Result]], ApprovedFunction[Parameters, Result]]: ...

    def requires_approval(
        self, function: Callable[..., Any] | None = None, /, **options: Any
    ) -> Any:
        """Have each call of a coroutine function approved; see `Signoff.requires_approval`."""

        def decorate(function: Callable[..., Any]) -> Any:
            approval = Approval(function, is_async=True, **options)

            def call(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
                return self._call(approval, key, args, kwargs)

            return approval.wrap(call)

        return decorate if function is None else decorate(function)

    async def _call(
        self, approval: Approval, key: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        members = approval.members(args, kwargs)
        request = await self.wait(await self.create_request(key=key, **members), approval.wait)
        call = await self.start_call(
            request, effect=approval.effect, lease_seconds=approval.lease_seconds
        )
        try:
            run = approval.bind(call.args)
        except UnknownArguments as error:
            await self._report(call.report("failed", error=str(error)))
            raise EditRefused(f"Not run: {error}", request, request.item) from error
        try:
            async with self._lease(call):
                result = await run()
        except BaseException as error:
            await self._report(call.report_error(error))
            raise
        await self._report(call.report("succeeded", result=result, executed_args=dict(call.args)))
        return result

    @asynccontextmanager
    async def _lease(self, call: StartedCall) -> AsyncIterator[None]:
        async def prolong() -> None:
            while True:
                await asyncio.sleep(call.lease_seconds / 3)
                try:
                    await self._run(call.prolong())
                except SignoffError as error:
                    log.warning("The lease of a call could not be prolonged: %s", error)

        task = asyncio.create_task(prolong())
        try:
            yield
        finally:
            task.cancel()

    async def _report(self, steps: Steps[Any]) -> None:
        """Report also if the task is cancelled: the call has ended, or nobody knows how."""
        try:
            await asyncio.shield(self._run(steps))
        except SignoffError as error:
            log.warning("A call ended, and Signoff could not be told how: %s", error)

    async def _run(self, steps: Steps[Result]) -> Result:
        reply: Reply | None = None
        lost: ConnectionLost | None = None
        while True:
            try:
                step = steps.throw(lost) if lost else steps.send(reply)
            except StopIteration as done:
                result: Result = done.value
                return result
            reply = lost = None
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                continue
            try:
                reply = await self._send(step)
            except ConnectionLost as error:
                lost = error

    async def _send(self, send: Send) -> Reply:
        body = bytearray()
        try:
            async with self._http.stream(
                send.method,
                send.path,
                content=send.body,
                headers=request_headers(self._settings, send),
                timeout=send.timeout,
            ) as answer:
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > LARGEST_ANSWER:
                        raise ConnectionLost("its answer is too large")
                headers = dict(answer.headers)
                return Reply(answer.status_code, headers, bytes(body), self._settings.url)
        except httpx.HTTPError as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error
