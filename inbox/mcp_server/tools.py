"""The tools of Signoff as an MCP server; they call the actions that REST calls."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from inbox.actions.idempotency import IdempotencyKey
from inbox.actions.requests.ask import ask
from inbox.actions.requests.call_reports import Report, report_call
from inbox.actions.requests.heard import note_heard
from inbox.actions.requests.withdraw_request import withdraw_request
from inbox.api.base.schema import Schema
from inbox.api.requests.requests import RequestInput
from inbox.mcp_server import tool_arguments
from inbox.mcp_server.outcomes import (
    Outcome,
    decided_outcome,
    deny_text,
    is_open,
    single_item,
)
from inbox.queries.agents import agents
from inbox.queries.requests import requests
from inbox.queries.requests.requests import RequestView
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.requests.drafts import MAX_BYTES
from inbox.rules.requests.request_states import ReportedOutcome

#: Claude Code repeats a call that it was told to repeat; later the approval is too old.
_APPROVE_TOOL_VALID_SECONDS = 3_600
_APPROVE_TOOL_SESSION = "claude-code"


@dataclass(frozen=True)
class Caller:
    """A client of one HTTP request."""

    authenticate: Callable[[], Actor]  #: again, because a key may be revoked during a hold
    client: str  #: name and version that it claims; "" if unknown
    agent: str  #: from the address of the endpoint; "" for that of the key
    session: str  #: from the address of the endpoint; "" for none

    def view(self, request_id: UUID) -> tuple[Actor, RequestView]:
        """
        Return a request as the client may see it now.

        Raises:
            Unauthenticated, NotFound, Forbidden.
        """
        actor = self.authenticate()
        row = requests.request_for(actor, request_id)
        note_heard(request=row, actor=actor)
        return actor, requests.view_of(row, actor)


@dataclass(frozen=True)
class Waiting:
    """The request that a tool waits for."""

    view: RequestView
    seconds: float


def request_approval(caller: Caller, arguments: Any, *, as_task: bool) -> Waiting:
    body = {
        **_asked(caller, arguments),
        "tool": arguments.tool,
        "args": arguments.args,
        "may_edit": arguments.may_edit,
        **_set(arguments, "args_schema", "metadata"),
        "execution": {"effect": arguments.effect, "lease_seconds": arguments.lease_seconds},
    }
    # The permit of a task belongs to its id, so two tasks cannot share a request.
    body["attach"] = "session" in body and not as_task
    return _ask(caller, body, arguments.wait_seconds)


def ask_human(caller: Caller, arguments: Any, *, as_task: bool) -> Waiting:
    body = {**_asked(caller, arguments), **_set(arguments, "answer_schema")}
    return _ask(caller, body, arguments.wait_seconds)


def wait_for_decision(caller: Caller, arguments: Any, *, as_task: bool) -> Waiting:
    _, view = caller.view(arguments.request_id)
    single_item(view)
    return Waiting(view, arguments.wait_seconds)


def report_result(caller: Caller, arguments: Any, *, as_task: bool) -> Outcome:
    actor, view = caller.view(arguments.request_id)
    reported = report_call(
        request_id=arguments.request_id,
        item_id=single_item(view).id,
        report=Report(
            attempt=arguments.attempt,
            outcome=ReportedOutcome(arguments.outcome),
            result=arguments.result,
            error=arguments.error,
            executed_args=arguments.executed_args,
        ),
        actor=actor,
    )
    late = " A person is asked about this call already; the report stands beside the question."
    return Outcome(
        f"Reported. The call is {reported.state.value}.{late if reported.late else ''}",
        {
            "state": reported.state.value,
            "replayed": reported.replayed,
            "late": reported.late,
            "request_id": str(view.row.pk),
        },
    )


def withdraw(caller: Caller, arguments: Any, *, as_task: bool) -> Outcome:
    actor, _ = caller.view(arguments.request_id)
    withdraw_request(request_id=arguments.request_id, actor=actor, reason=arguments.reason)
    actor, view = caller.view(arguments.request_id)
    return decided_outcome(view, actor=actor, attempt=str(uuid4()))


def approve_tool(caller: Caller, arguments: Any, *, as_task: bool) -> Waiting:
    """Ask for Claude Code whether a tool may run."""
    body: dict[str, Any] = {
        "tool": arguments.tool_name,
        "args": arguments.input,
        "may_edit": True,
        "session": {"id": caller.session or _APPROVE_TOOL_SESSION},
        "attach": True,
        # Nobody reports: Claude Code runs the tool, and does not tell this server.
        "execution": {"report": False, "valid_seconds": _APPROVE_TOOL_VALID_SECONDS},
        **({"call_id": arguments.tool_use_id} if arguments.tool_use_id else {}),
        **_origin(caller),
    }
    return _ask(caller, body, tool_arguments.MAX_WAIT_SECONDS)


def outcome_of(caller: Caller, request_id: UUID, attempt: str) -> Outcome | None:
    """Return the outcome of a decided request, None while it is open."""
    actor, view = caller.view(request_id)
    return None if is_open(view) else decided_outcome(view, actor=actor, attempt=attempt)


def _ask(caller: Caller, body: Mapping[str, Any], seconds: float) -> Waiting:
    """Ask as `POST /api/requests` does."""
    if len(json.dumps(body, ensure_ascii=False).encode()) > MAX_BYTES:
        raise errors.TooLarge(f"A request has up to {MAX_BYTES // 1024} KiB.")
    arguments = tool_arguments.read_arguments(RequestInput, body)
    actor = caller.authenticate()
    agent = agents.agent_to_ask(actor, arguments.agent or "")
    result = ask(agent=agent, draft=arguments.to_draft(), actor=actor, idempotency=IdempotencyKey())
    row = requests.request_for(actor, result.request.pk)
    return Waiting(requests.view_of(row, actor), seconds)


def _asked(caller: Caller, arguments: tool_arguments.AskArguments) -> dict[str, Any]:
    """Return the members of the body that all questions have."""
    session = arguments.session or caller.session
    return {
        **_set(arguments, "title", "why"),
        "expires_in": arguments.expires_in,
        **_origin(caller),
        **({"agent": arguments.agent} if arguments.agent else {}),
        **({"session": {"id": session}} if session else {}),
    }


def _origin(caller: Caller) -> dict[str, Any]:
    return {
        **({"agent": caller.agent} if caller.agent else {}),
        **({"requester": {"name": caller.client}} if caller.client else {}),
    }


def _set(arguments: Schema, *names: str) -> dict[str, Any]:
    sent = arguments.sent()
    return {name: sent[name] for name in names if name in sent}


def _permission(outcome: Outcome) -> Outcome:
    """Return an outcome as Claude Code reads it: JSON in a text; a problem is a denial."""
    members = outcome.structured
    if members.get("status") == "approved" and "attempt" in members:
        answer = {"behavior": "allow", "updatedInput": members["args"]}
    elif members.get("status") == "open":
        message = (
            "Nobody has answered yet. Issue the same call again to wait on, and do nothing else "
            f"with its effect meanwhile. People decide at {members['url']}"
        )
        answer = {"behavior": "deny", "message": message}
    else:
        answer = {"behavior": "deny", "message": deny_text(outcome)}
    return Outcome(json.dumps(answer, ensure_ascii=False))


@dataclass(frozen=True)
class Tool:
    name: str
    title: str
    description: str
    input: type[Schema]
    run: Callable[..., Waiting | Outcome]
    holds: bool = False  #: the response may take a while
    may_be_task: bool = False
    render: Callable[[Outcome], Outcome] | None = None  #: another form of the result

    def to_json(self) -> dict[str, Any]:
        members = ("status", "request_id", "url", "code", "detail")
        schema = {
            "type": "object",
            "properties": {name: {"type": "string"} for name in members},
            # Clients check errors against this, too, and keep from the model what does not match.
            "anyOf": [
                {"required": ["status", "request_id", "url"]},
                {"required": ["code", "detail"]},
            ],
        }
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": tool_arguments.schema_of(self.input),
            **({"outputSchema": schema} if self.holds and not self.render else {}),
            "annotations": {"destructiveHint": False, "openWorldHint": False},
        }

    def result(self, outcome: Outcome) -> dict[str, Any]:
        """Return the CallToolResult of an outcome."""
        return (self.render(outcome) if self.render else outcome).to_json()


_STATUSES = (
    "The status in the result: `approved` (with `args` and `attempt`), `denied`, `answered`, "
    "`expired`, `withdrawn`, `lapsed`, `in_doubt`, or `open`: nobody has answered yet."
)
TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "request_approval",
            "Ask for approval of a call",
            "Ask people to approve one call of a tool before you make it. Make the call only after "
            "the status `approved`, once, with exactly the returned `args`, which people may have "
            f"changed; then call report_result. {_STATUSES}",
            tool_arguments.RequestApproval,
            request_approval,
            holds=True,
            may_be_task=True,
        ),
        Tool(
            "ask_human",
            "Ask a question",
            "Ask people a question, with a form if `answer_schema` is arguments, else yes or no. "
            f"{_STATUSES}",
            tool_arguments.AskHuman,
            ask_human,
            holds=True,
            may_be_task=True,
        ),
        Tool(
            "wait_for_decision",
            "Wait for a decision",
            "Go on waiting for a request whose status was `open`. An approval is returned to one "
            f"call only. {_STATUSES}",
            tool_arguments.WaitForDecision,
            wait_for_decision,
            holds=True,
        ),
        Tool(
            "report_result",
            "Report the outcome of an approved call",
            "Report how an approved call ended. Use `unknown` if you cannot tell, as after a "
            "timeout; do not repeat the call then.",
            tool_arguments.ReportResult,
            report_result,
        ),
        Tool(
            "withdraw",
            "Withdraw a request",
            "Take a request back that is not decided; nothing of it is executed.",
            tool_arguments.Withdraw,
            withdraw,
        ),
        Tool(
            "approve_tool",
            "Answer a permission prompt",
            "For the option --permission-prompt-tool of Claude Code, which calls it before a tool "
            "runs. Not for models: use request_approval.",
            tool_arguments.ApproveTool,
            approve_tool,
            holds=True,
            render=_permission,
        ),
    )
}
