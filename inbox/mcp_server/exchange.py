"""The response to one message: JSON, or a stream with progress while people are asked."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpResponse, HttpResponseBase

from agents.agui import strict_json
from inbox.api.runs.streams import KEEP_ALIVE, stream, unnumbered
from inbox.mcp_server.holds import Progress
from inbox.mcp_server.messages import REJECTED, Message, ProtocolError, parse_message
from inbox.mcp_server.methods import Answers, holds, prepare
from inbox.mcp_server.tools import Caller
from inbox.rules.people.access import Actor

log = structlog.get_logger(__name__)


async def respond(
    body: bytes,
    headers: Mapping[str, str],
    *,
    takes_streams: bool,
    authenticate: Callable[[], Actor],
    agent: str,
    session: str,
) -> HttpResponseBase:
    """Return the response; `agent` and `session` are the defaults of the client's calls."""
    try:
        message = parse_message(body, headers)
        if message is None:
            return HttpResponse(status=202)
        caller = Caller(authenticate, message.client, agent, session)
        answers = prepare(message)(caller)
        if takes_streams and holds(message):
            return stream(_frames(message, answers))
        return _json(await _last(message, answers))
    except ProtocolError as error:
        return _json(error.to_json(), error.status)


async def _frames(message: Message, answers: Answers) -> AsyncIterator[bytes]:
    # Daphne sends the headers with the first byte.
    yield KEEP_ALIVE.encode()
    try:
        async with aclosing(_checked(message, answers)) as steps:
            async for step in steps:
                yield _frame(message, step)
    except ProtocolError as error:
        yield unnumbered(strict_json.dumps(error.to_json())).encode()


def _frame(message: Message, step: Progress | dict[str, Any]) -> bytes:
    if not isinstance(step, Progress):
        return unnumbered(strict_json.dumps(message.result(step))).encode()
    if message.progress_token is None:
        return KEEP_ALIVE.encode()
    params = {
        "progressToken": message.progress_token,
        "progress": step.seconds,
        "total": step.total,
        "message": step.message,
    }
    notification = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    return unnumbered(strict_json.dumps(notification)).encode()


async def _last(message: Message, answers: Answers) -> dict[str, Any]:
    """Return the response without the progress before it."""
    result: dict[str, Any] = {}
    async with aclosing(_checked(message, answers)) as steps:
        async for step in steps:
            if not isinstance(step, Progress):
                result = step
    return message.result(result)


async def _checked(message: Message, answers: Answers) -> Answers:
    """Yield the answers. Raises ProtocolError if the database is unavailable."""
    try:
        async with aclosing(answers) as steps:
            async for step in steps:
                yield step
    except (OperationalError, InterfaceError) as error:
        log.warning("database unavailable", error=str(error)[:200])
        raise message.error(
            REJECTED, "The database is unavailable. Try again in a moment.", {"code": "UNAVAILABLE"}
        ) from error


def _json(value: dict[str, Any], status: int = 200) -> HttpResponse:
    return HttpResponse(strict_json.dumps(value), status=status, content_type="application/json")
