"""REST: threads, their messages, state and runs."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict
from rest_framework.request import Request
from rest_framework.response import Response

from agents.agui.conversation import is_from_client
from inbox.actions.audit.thread_deletion import keep_thread
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import UNSET, AgentName, Agui, Flag, Id, example
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters, query
from inbox.api.base.pagination import NUMBER_CURSOR, SLUG
from inbox.api.base.schema import Page, Schema, source
from inbox.api.runs.runs import ListedRun, ThreadName, agent_parameter
from inbox.queries.decisions.masked_values import interrupt_bodies_by_call
from inbox.queries.runs import threads
from inbox.rules.decisions.consent import SIGNOFF
from inbox.rules.people.access import Permission
from inbox.rules.schema.mask_agui import masked_message
from inbox.rules.schema.secrets import NAMES

if TYPE_CHECKING:
    from inbox import models


operation = partial(describe_operation, tag="threads", scope=Permission.READ)


class Thread(Schema):
    id: Id
    thread_id: ThreadName = source("external_id")
    """Its AG-UI id, unique with its agent."""
    agent: AgentName = source("agent.slug")
    title: Annotated[str, example("Send Kim the invoice")]
    last_seq: int
    is_kept: bool
    """True if an administrator keeps it: it is not deleted by its age."""
    created_at: datetime
    updated_at: datetime


class ThreadChange(Schema):
    is_kept: Flag
    """True: it is not deleted by its age. False: the retention of the team applies again."""


class MessageSource(Schema):
    source: Literal["client", "agent"]
    """`client` if a client sent exactly this message, else `agent`; the role does not matter."""


class MessageMetadata(Schema):
    model_config = ConfigDict(extra="allow")

    signoff: MessageSource


class Message(Schema):
    """A message of AG-UI 1.0. Its further members depend on its role."""

    model_config = ConfigDict(extra="allow", json_schema_serialization_defaults_required=False)

    id: Annotated[str, example("m-1")]
    role: Annotated[str, example("user")]
    content: Annotated[Any, example("Send Kim the invoice")] = UNSET
    name: str = UNSET
    toolCalls: list[Agui] = UNSET  # noqa: N815  # as AG-UI spells it
    toolCallId: str = UNSET  # noqa: N815
    error: str = UNSET
    metadata: MessageMetadata


class ThreadState(Schema):
    state: Any


class ThreadWithMessages(Thread, ThreadState):
    messages: list[Message]
    active_run: Id | None


class Threads(ApiView):
    @operation(
        "GET",
        "List the threads",
        {200: Page[Thread]},
        parameters=[query("agent", "Only those of this agent.", SLUG)],
    )
    def list_threads(self, request: Request) -> Response:
        pagination = self.pagination
        rows = threads.threads_for(
            self.actor,
            limit=pagination.one_more,
            after=pagination.after_id,
            agent=agent_parameter(request.query_params),
        )
        return pagination.page(rows, _represent)

    @operation("GET", "Read one thread, with its messages and state", {200: ThreadWithMessages})
    def get_thread(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor, thread_id)
        hydration, may_see_secrets = threads.hydration_of(thread), self.may_see_secrets
        return Response(
            _represent(
                thread,
                ThreadWithMessages,
                messages=_messages(hydration, may_see_secrets=may_see_secrets),
                state=hydration.state if may_see_secrets else NAMES.masked(hydration.state),
                active_run=hydration.active.pk if hydration.active else None,
            )
        )

    @operation(
        "PATCH",
        "Keep a thread whatever its age, or do so no more",
        {204: None},
        scope=Permission.ADMIN,
        body=ThreadChange,
    )
    def change_thread(self, request: Request, thread_id: UUID) -> Response:
        is_kept = ThreadChange.from_request(request).is_kept
        keep_thread(thread_id=thread_id, is_kept=is_kept, actor=self.actor)
        return Response(status=204)

    @operation(
        "GET",
        "Read the messages of a thread",
        {200: Page[Message]},
        parameters=page_parameters(NUMBER_CURSOR),
    )
    def list_messages(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor, thread_id)
        pagination = self.pagination
        first = pagination.after_number
        # Cursors are positions, because a snapshot of the agent may replace all messages.
        messages = _messages(threads.hydration_of(thread), may_see_secrets=self.may_see_secrets)
        numbered = list(enumerate(messages, start=1))[first : first + pagination.one_more]
        return pagination.page(numbered, lambda numbered: numbered[1], lambda numbered: numbered[0])

    @operation("GET", "Read the state of a thread", {200: ThreadState})
    def get_state(self, request: Request, thread_id: UUID) -> Response:
        thread = threads.thread_for(self.actor, thread_id)
        state = threads.hydration_of(thread).state
        return Response({"state": state if self.may_see_secrets else NAMES.masked(state)})

    @operation("GET", "List the runs of a thread, the latest first", {200: Page[ListedRun]})
    def list_runs_of_thread(self, request: Request, thread_id: UUID) -> Response:
        actor, pagination = self.actor, self.pagination
        thread = threads.thread_for(actor, thread_id)
        rows = threads.runs_for(
            actor, thread=thread, limit=pagination.one_more, after=pagination.after_id
        )
        return pagination.page(rows, ListedRun.represent)


def _represent(row: "models.Thread", model: type[Thread] = Thread, **values: Any) -> dict[str, Any]:
    return model.represent(row, last_seq=row.next_seq - 1, **values)


def _messages(hydration: threads.Hydration, *, may_see_secrets: bool) -> list[dict[str, Any]]:
    """Return the messages with their sources; calls and results masked unless `may_see_secrets`."""
    bodies = {} if may_see_secrets else interrupt_bodies_by_call(hydration.thread)
    return [
        _with_source(
            message if may_see_secrets else masked_message(message, bodies),
            is_from_client(message, hydration.client_messages),
        )
        for message in hydration.messages
    ]


def _with_source(message: dict[str, Any], is_from_client: bool) -> dict[str, Any]:
    """Add the author of a message, because clients and agents choose its role freely."""
    source = {"source": "client" if is_from_client else "agent"}
    return {**message, "metadata": {**(message.get("metadata") or {}), SIGNOFF: source}}
