"""REST about what belongs to one thread."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api.base import serializers
from inbox.api.base.base_view import Caller
from inbox.api.base.openapi_descriptions import operation, page_parameters
from inbox.api.base.pagination import NUMBER_CURSOR, Window
from inbox.api.base.response_models import (
    AuditEntry,
    Message,
    Page,
    Run,
    ThreadState,
    ToolCall,
)
from inbox.queries.decisions.masked_values import about_entry, interrupt_bodies_by_id
from inbox.queries.runs import thread_children, threads
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Permission
from inbox.rules.schema.mask_agui import masked_detail, secrets_of_arguments
from inbox.rules.schema.secrets import NAMES


class ThreadMessages(Caller):
    @operation(
        "listMessages",
        "Read the messages of a thread",
        tag="threads",
        scope=Permission.READ,
        answers={200: Page[Message]},
        refuses=(NotFound,),
        parameters=page_parameters(NUMBER_CURSOR),
    )
    def get(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor(request), thread_id)
        window = Window.of(request.query_params)
        first = window.after_number
        # A snapshot of the agent's may replace all of them: their places are all that they keep.
        messages = serializers.messages_json(
            threads.hydration_of(thread), self.may_see_secrets(request)
        )
        numbered = list(enumerate(messages, start=1))
        found = numbered[first : first + window.one_more]
        return window.page(found, lambda one: one[1], lambda one: one[0])


class ThreadStateDetail(Caller):
    @operation(
        "getState",
        "Read the state of a thread",
        tag="threads",
        scope=Permission.READ,
        answers={200: ThreadState},
        refuses=(NotFound,),
    )
    def get(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor(request), thread_id)
        state = threads.hydration_of(thread).state
        return Response({"state": state if self.may_see_secrets(request) else NAMES.masked(state)})


class ThreadToolCalls(Caller):
    @operation(
        "listToolCalls",
        "Read what a thread's agent wanted to call, what was decided, and what came of it",
        tag="threads",
        scope=Permission.READ,
        answers={200: Page[ToolCall]},
        refuses=(NotFound,),
    )
    def get(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor(request), thread_id)
        window = Window.of(request.query_params)
        found = thread_children.tool_calls_page(
            thread, limit=window.one_more, after=window.after_id
        )
        whole = self.may_see_secrets(request)
        return window.page(found, lambda call: tool_call_json(call, whole=whole))


class ThreadRuns(Caller):
    @operation(
        "listRunsOfThread",
        "List the runs of a thread, the latest first",
        tag="threads",
        scope=Permission.READ,
        answers={200: Page[Run]},
        refuses=(NotFound,),
    )
    def get(self, request: Request, thread_id: UUID) -> Response:
        actor, window = self.actor(request), Window.of(request.query_params)
        thread = threads.thread_for(actor, thread_id)
        found = threads.runs_for(actor, thread=thread, limit=window.one_more, after=window.after_id)
        return window.page(found, serializers.run_json)


class ThreadAudit(Caller):
    """For whoever may read: the pages of the thread's requests show the same entries to them."""

    @operation(
        "listAuditEntries",
        "Read who did what in a thread",
        tag="threads",
        scope=Permission.READ,
        answers={200: Page[AuditEntry]},
        refuses=(NotFound,),
        parameters=page_parameters(NUMBER_CURSOR),
    )
    def get(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor(request), thread_id)
        window = Window.of(request.query_params)
        found = thread_children.audit_entries_page(
            thread, limit=window.one_more, after=window.after_number
        )
        asked = None if self.may_see_secrets(request) else interrupt_bodies_by_id(found)
        return window.page(found, lambda entry: entry_json(entry, asked), lambda entry: entry.seq)


def tool_call_json(call: Any, *, whole: bool) -> dict[str, Any]:
    """
    A call with its arguments as they were proposed, approved and executed, each null if not.

    Unless it is asked for as a `whole`, secrets are masked.
    """
    asked = list(call.interrupts.all())
    decisions = [(one, decision) for one in asked for decision in one.standing]
    is_approved = any(_approves(decision) for _, decision in decisions)
    secrets = secrets_of_arguments(*(one.body for one in asked))
    args, approved = (
        json.loads(text if whole else secrets.json(text))
        for text in (call.args, call.approved_args)
    )
    return {
        "id": str(call.pk),
        "tool_call_id": call.tool_call_id,
        "run": str(call.run_id),
        "tool": call.name,
        "state": call.state,
        "effect": call.effect or None,
        "proposed_args": args,
        "approved_args": approved if is_approved else None,
        # The executor takes no others than the approved ones.
        "executed_args": approved if call.started_at else None,
        "decisions": [
            serializers.decision_json(decision, None if whole else one.body)
            for one, decision in decisions
        ],
        "result": call.result if whole or call.result is None else NAMES.json(call.result),
        "proposed_at": call.proposed_at,
        "started_at": call.started_at,
        "settled_at": call.settled_at,
    }


def _approves(decision: Any) -> bool:
    payload = json.loads(decision.payload) if decision.payload else None
    return isinstance(payload, dict) and payload.get("approved") is True


def entry_json(entry: Any, asked: Mapping[UUID, Sequence[str]] | None) -> dict[str, Any]:
    """An entry, masked if there is what was `asked`; names and texts that were erased are null."""
    is_kept = hasattr(entry, "payload")
    told = entry.told
    detail = told["detail"]
    if asked is not None:
        detail = masked_detail(detail, *about_entry(entry, asked))
    return {
        "seq": entry.seq,
        "hash": entry.hash,
        "action": entry.action,
        "actor": {
            "kind": entry.actor_kind,
            "id": entry.actor_id,
            "name": told["actor"] if is_kept else None,
        },
        "run": str(entry.run_id) if entry.run_id else None,
        "interrupt": str(entry.interrupt_id) if entry.interrupt_id else None,
        "tool_call": str(entry.tool_call_id) if entry.tool_call_id else None,
        "detail": detail if is_kept else None,
        "at": entry.at,
    }
