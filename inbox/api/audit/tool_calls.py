"""REST: tool calls of threads and teams, with their decisions and results."""

import json
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api.audit.audit_entries import FILTERS, NAME, PAGES
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import BLANK_AS_NULL, AgentName, Id, TextOrNull, example
from inbox.api.base.openapi_descriptions import describe_operation, query
from inbox.api.base.pagination import page_response, reject_values
from inbox.api.base.schema import Page, Schema, source
from inbox.api.decisions.decisions import Decision, represent_decision
from inbox.api.runs.runs import ThreadName
from inbox.queries.audit.tool_calls import tool_calls_for
from inbox.queries.decisions.interrupts import listed_decision
from inbox.queries.runs import thread_children, threads
from inbox.rules import errors
from inbox.rules.audit.audit_filters import CallFilter
from inbox.rules.people.access import Permission
from inbox.rules.runs.states import ToolCallOutcome, ToolCallState
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.secrets import NAMES

if TYPE_CHECKING:
    from inbox import models


operation = partial(describe_operation, tag="audit", scope=Permission.READ)

Arguments = Annotated[Any, example({"to": "kim@example.com", "subject": "Your invoice"})]


class ToolCall(Schema):
    id: Id
    tool_call_id: Annotated[str, example("call-1")]
    """Its AG-UI id, unique in its thread."""
    run: Id = source("run_id")
    tool: Annotated[str, example("write_to_customer")] = source("name")
    state: ToolCallState
    effect: Annotated[TextOrNull, example("once")]
    """
    The agent's declaration when the call starts: `read`, `idempotent` or `once`. It is `client` if
    a client called its own tool and sent the result.
    """
    proposed_args: Arguments
    approved_args: Arguments
    """Null without an approval; different from the proposed ones if somebody has edited them."""
    executed_args: Arguments
    """Null if the call has not started, or ran in an agent elsewhere, which does not tell them."""
    decisions: list[Decision]
    """The decisions in force, in the order of their interrupts."""
    result: Annotated[str | None, example('{"sent":true}')]
    proposed_at: datetime
    started_at: datetime | None
    settled_at: datetime | None


class TrailCall(ToolCall):
    agent: AgentName = source("agent.slug")
    thread: Id = source("thread_id")
    thread_id: ThreadName = source("thread.external_id")
    decision: Annotated[ToolCallOutcome | None, BLANK_AS_NULL] = source("verdict")
    """The outcome of the decisions in force."""
    decided_by: TextOrNull
    """The id of the person or key that decided, or the name of a part of Signoff."""


class ToolCalls(ApiView):
    @operation(
        "GET",
        "List the tool calls of a thread, with their decisions and results",
        {200: Page[ToolCall]},
        tag="threads",
    )
    def list_tool_calls(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor, thread_id)
        pagination = self.pagination
        rows = thread_children.tool_calls_page(
            thread, limit=pagination.one_more, after=pagination.after_id
        )
        may_see_secrets = self.may_see_secrets
        return pagination.page(rows, lambda row: _represent(row, may_see_secrets=may_see_secrets))

    @operation(
        "GET",
        "Search the tool calls, the latest first",
        {200: Page[TrailCall]},
        parameters=[
            *FILTERS,
            query("by", "Only those that this person or key decided, or `system:expiry`.", NAME),
        ],
        description=PAGES,
        refusals=(errors.InvalidValue,),
    )
    def search_tool_calls(self, request: Request) -> Response:
        pagination = self.pagination
        call_filter, ignored = CallFilter.from_query(request.query_params.dict())
        reject_values(ignored)
        page = tool_calls_for(
            self.actor, call_filter, limit=pagination.limit, after=pagination.after_id
        )
        may_see_secrets = self.may_see_secrets
        return page_response(
            page.rows,
            page.after,
            lambda row: _represent(row, may_see_secrets=may_see_secrets, model=TrailCall),
        )


def _represent(
    call: "models.ToolCall", *, may_see_secrets: bool, model: type[ToolCall] = ToolCall
) -> dict[str, Any]:
    """
    Return a call with its arguments as proposed, approved and executed, each null if it was not.

    Secrets are masked unless `may_see_secrets`.
    """
    interrupts = list(call.interrupts.all())
    decisions = [
        (interrupt, decision)
        for interrupt in interrupts
        if (decision := listed_decision(interrupt)) is not None
    ]
    is_approved = any(_approves(decision) for _, decision in decisions)
    secrets = secrets_of_arguments(*(interrupt.body for interrupt in interrupts))
    proposed, approved = (
        json.loads(text if may_see_secrets else secrets.json(text))
        for text in (call.args, call.approved_args)
    )
    return model.represent(
        call,
        proposed_args=proposed,
        approved_args=approved if is_approved else None,
        # The executor accepts the approved ones only.
        executed_args=approved if call.started_at else None,
        decisions=[
            represent_decision(decision, None if may_see_secrets else interrupt.body)
            for interrupt, decision in decisions
        ],
        result=call.result if may_see_secrets or call.result is None else NAMES.json(call.result),
    )


def _approves(decision: "models.Decision") -> bool:
    payload = json.loads(decision.payload) if decision.payload else None
    return isinstance(payload, dict) and payload.get("approved") is True
