"""The methods of the MCP server: discovery, tools, and tasks that are requests."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from mcp_types import INVALID_PARAMS

from inbox.actions.requests.withdraw_request import withdraw_request
from inbox.mcp_server.holds import Progress, hold
from inbox.mcp_server.messages import (
    HANDSHAKE_VERSIONS,
    REJECTED,
    STATELESS_VERSIONS,
    TASKS,
    Message,
)
from inbox.mcp_server.outcomes import (
    Outcome,
    decided_outcome,
    is_open,
    open_outcome,
    rejected,
    task_attempt,
)
from inbox.mcp_server.tool_arguments import read_arguments
from inbox.mcp_server.tools import TOOLS, Caller, Tool, outcome_of
from inbox.platform.db_executor import in_db_thread
from inbox.queries.requests.requests import RequestView, url_of
from inbox.rules import errors
from inbox.rules.requests.request_outcomes import next_poll_seconds
from inbox.rules.requests.request_states import RequestStatus

_SERVER = {"name": "signoff", "title": "Signoff", "version": "1"}
_INSTRUCTIONS = (
    "Signoff asks people. Call request_approval before an action that needs approval, and make the "
    "action only after the status `approved`, once, with the returned arguments; then call "
    "report_result. While the status is `open`, call wait_for_decision. A denial is final."
)
_CACHE = {"ttlMs": 3_600_000, "cacheScope": "public"}


Answers = AsyncGenerator[Progress | dict[str, Any], None]


def prepare(message: Message) -> Callable[[Caller], Answers]:
    """
    Return the function that answers a request: it yields progress, and last the result.

    Raises:
        ProtocolError: there is no such tool.
    """
    if message.method != "tools/call":
        return _Answer(message)
    tool = TOOLS.get(message.params["name"])
    if tool is None:
        raise message.error(INVALID_PARAMS, "There is no tool with this name.")
    return _ToolCall(message, tool)


def holds(message: Message) -> bool:
    """Return whether the answer may take a while, so that the client gets a stream."""
    tool = TOOLS.get(message.params.get("name", "")) if message.method == "tools/call" else None
    return tool is not None and tool.holds


@dataclass(frozen=True)
class _ToolCall:
    message: Message
    tool: Tool

    async def __call__(self, caller: Caller) -> Answers:
        """Yield progress and the result; rejections are results, which a model can act on."""
        try:
            async with aclosing(self._steps(caller)) as steps:
                async for step in steps:
                    yield self.tool.result(step) if isinstance(step, Outcome) else step
        except errors.Unauthenticated as refusal:
            raise self.message.error(REJECTED, refusal.message, {"code": refusal.code}) from refusal
        except errors.RequestRejected as refusal:
            yield self.tool.result(rejected(refusal))

    async def _steps(
        self, caller: Caller
    ) -> AsyncGenerator[Progress | Outcome | dict[str, Any], None]:
        tool = self.tool
        arguments = read_arguments(tool.input, self.message.params.get("arguments") or {})
        as_task = tool.may_be_task and self.message.has_tasks
        waiting = await in_db_thread(tool.run, caller, arguments, as_task=as_task)
        if isinstance(waiting, Outcome):
            yield waiting
            return
        view = waiting.view
        if as_task and is_open(view):
            yield {"resultType": "task", **_task(view, "working")}
            return
        read = partial(outcome_of, caller, view.row.pk, str(uuid4()))
        message = f"Waiting for a person: {url_of(view.row)}"
        holding = hold(view.row.thread_id, read, seconds=waiting.seconds, message=message)
        async with aclosing(holding) as steps:
            async for step in steps:
                yield open_outcome(view) if step is None else step


@dataclass(frozen=True)
class _Answer:
    message: Message

    async def __call__(self, caller: Caller) -> Answers:
        message = self.message
        match message.method:
            case "initialize":
                yield _initialize(message.params)
            case "server/discover":
                yield _discover()
            case "tools/list":
                tools = [tool.to_json() for tool in TOOLS.values()]
                yield {"resultType": "complete", "tools": tools, **_CACHE}
            case "ping":
                yield {}
            case _:
                yield await in_db_thread(_answer_task, message, caller)


def _initialize(params: Mapping[str, Any]) -> dict[str, Any]:
    version = params["protocolVersion"]
    return {
        "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": _SERVER,
        "instructions": _INSTRUCTIONS,
    }


def _discover() -> dict[str, Any]:
    return {
        "resultType": "complete",
        "supportedVersions": list(STATELESS_VERSIONS),
        "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
        "instructions": _INSTRUCTIONS,
        "_meta": {"io.modelcontextprotocol/serverInfo": _SERVER},
        **_CACHE,
    }


def _answer_task(message: Message, caller: Caller) -> dict[str, Any]:
    """
    Answer a method of the tasks extension; the id of a task is that of its request.

    Raises:
        ProtocolError: there is no such task for this key.
    """
    try:
        actor, view = caller.view(UUID(message.params.get("taskId")))
    except errors.Unauthenticated as refusal:
        raise message.error(REJECTED, refusal.message, {"code": refusal.code}) from refusal
    except (TypeError, ValueError, AttributeError, errors.NotFound, errors.Forbidden) as error:
        raise message.error(INVALID_PARAMS, "Task not found") from error
    if message.method == "tasks/cancel":
        # Cancelling is a wish: the client reads the decision if it polls on.
        with suppress(errors.RequestDecided):
            withdraw_request(request_id=view.row.pk, actor=actor, reason="The task was cancelled.")
    if message.method != "tasks/get":
        return {"resultType": "complete"}
    return {"resultType": "complete", **_detailed_task(view, caller)}


def _detailed_task(view: RequestView, caller: Caller) -> dict[str, Any]:
    """Return a task, with the result of its tool if the request is decided."""
    if is_open(view):
        return _task(view, "working")
    if view.row.status == RequestStatus.WITHDRAWN:
        return _task(view, "cancelled")
    actor = caller.authenticate()
    try:
        outcome = decided_outcome(view, actor=actor, attempt=task_attempt(view.row.pk))
    except errors.RequestRejected as refusal:
        outcome = rejected(refusal)
    return {**_task(view, "completed"), "result": outcome.to_json()}


def _task(view: RequestView, status: str) -> dict[str, Any]:
    row = view.row
    lifetime = row.expires_at - row.created_at if row.expires_at else None
    changed = max([row.created_at, *(item.at for item in view.items if item.at)])
    message = {"statusMessage": f"Waiting for a person: {url_of(row)}"}
    return {
        "taskId": str(row.pk),
        "status": status,
        **(message if status == "working" else {}),
        "createdAt": _time(row.created_at),
        "lastUpdatedAt": _time(changed),
        "ttlMs": int(lifetime.total_seconds() * 1000) if lifetime else None,
        "pollIntervalMs": next_poll_seconds(RequestStatus(row.status)) * 1000,
    }


def _time(time: Any) -> str:
    return str(time.isoformat().replace("+00:00", "Z"))
