"""REST: runs: start, read, cancel and retry them."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from django.core.validators import slug_re
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox import engine
from inbox.actions.idempotency import idempotency_digest
from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.start_run import RunRequest, StartedRun, new_external_id
from inbox.agui_server.run_input import ID_CHARACTERS
from inbox.api.base.base_view import ApiView, created_response, idempotency_key
from inbox.api.base.field_types import (
    UNSET,
    AgentName,
    Agui,
    Id,
    PersonName,
    Text,
    TextOrNull,
    example,
)
from inbox.api.base.openapi_descriptions import describe_operation, query
from inbox.api.base.pagination import SLUG, Pagination
from inbox.api.base.schema import Page, Schema, source
from inbox.api.runs.long_poll import MAX_WAIT_SECONDS, check_wait
from inbox.queries.agents import agents
from inbox.queries.runs import threads
from inbox.queries.runs.agent_errors import agent_errors_for
from inbox.rules import errors
from inbox.rules.files.references import MAX_FILES
from inbox.rules.people.access import Permission
from inbox.rules.runs.states import RunStatus
from inbox.rules.schema.mask_agui import masked_event

if TYPE_CHECKING:
    from inbox import models


operation = partial(describe_operation, tag="runs", scope=Permission.READ)

_WAIT = {"type": "integer", "minimum": 0, "maximum": MAX_WAIT_SECONDS}
_STATES = {"type": "string", "pattern": "^{0}(,{0})*$".format(f"({'|'.join(RunStatus)})")}
ThreadName = Annotated[str, example("order-17")]


class StartRunInput(Schema):
    agent: AgentName
    message: Annotated[str, Text(100_000), example("Send Kim the invoice")]
    thread_id: Annotated[str, Text(ID_CHARACTERS, r"\S")] = UNSET
    state: Any = None
    forwarded_props: Any = None
    files: Annotated[list[Id], Field(max_length=MAX_FILES)] = UNSET
    """Ids of files that were sent for the agent; they become parts of the message."""

    def to_request(self, *, seed: str) -> RunRequest:
        """
        Return the request for the actions; ids that the client did not send derive from `seed`.

        A retry must name the same thread and message, even if the first response was lost.
        """
        message = {"id": f"{seed}-message", "role": "user", "content": self.message}
        return RunRequest(
            thread_id=self.thread_id or f"{seed}-thread",
            run_id=f"{seed}-run",
            input={
                "messages": [message],
                "state": self.state,
                "tools": [],
                "context": [],
                "forwardedProps": self.forwarded_props,
            },
            files=self.files or (),
        )


class ListedRun(Schema):
    id: Id
    run_id: Annotated[str, example("r-1")] = source("external_id")
    """Its AG-UI id. Other threads may have a run with the same id."""
    thread: Id = source("thread_id")
    thread_id: ThreadName = source("thread.external_id")
    agent: AgentName = source("thread.agent.slug")
    status: RunStatus
    attempt: int
    error_code: TextOrNull
    resumes: Id | None = source("resumes_id")
    """The interrupted run that this run continues."""
    retries: Id | None = source("retries_id")
    """The failed run that this run retries."""
    started_by: PersonName
    started_by_user: Annotated[int | None, example(2)] = source("requester_user_id")
    """The person who started it; null for keys and the system."""
    started_by_key: Id | None = source("requester_key_id")
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Run(ListedRun):
    terminal_event: Agui | None
    """RUN_FINISHED or RUN_ERROR; null until the run has ended."""


class ReadRun(Run):
    exceptions: Annotated[list[str] | None, example(["KeyError: 'total'\n  desk.py:12 in refund"])]
    """
    What the agent raised, with the lines of its own code, cut at a member that is named like a
    secret. For keys with the scope `run`, in the demo on one machine and where the team's setting
    `stores_exceptions` allows it; else null. The server's log has it everywhere.
    """


class AcceptedRun(Run):
    replayed: bool
    """True if an earlier request created this run."""


class Runs(ApiView):
    @operation(
        "GET",
        "List the latest runs",
        {200: Page[ListedRun]},
        parameters=[
            query(
                "status",
                "Only runs with this status, or with one of several between commas.",
                _STATES,
            ),
            query("agent", "Only those of this agent.", SLUG),
            query("thread", "Only those of this thread.", {"type": "string", "format": "uuid"}),
        ],
        refusals=(errors.NotFound,),
    )
    def list_runs(self, request: Request) -> Response:
        actor, query = self.actor, request.query_params
        pagination = Pagination.of(query)
        thread = query.get("thread")
        rows = threads.runs_for(
            actor,
            limit=pagination.one_more,
            after=pagination.after_id,
            statuses=_statuses(query.get("status", "")),
            agent=agent_parameter(query),
            thread=threads.thread_for(actor, _id_parameter("thread", thread)) if thread else None,
        )
        return pagination.page(rows, ListedRun.represent)

    @operation(
        "POST",
        "Start a run",
        {202: AcceptedRun},
        scope=Permission.RUN,
        body=StartRunInput,
        description="Without `thread_id` the run opens a new thread.",
        is_idempotent=True,
        refusals=(
            errors.AgentPaused,
            errors.AsksByItself,
            errors.InvalidValue,
            errors.LimitReached,
            errors.NotFound,
            errors.PendingInterrupts,
            errors.ThreadBusy,
        ),
    )
    def start_run(self, request: Request) -> Response:
        body = StartRunInput.from_request(request)
        key = idempotency_key(request)
        actor = self.actor
        agent = agents.agent_for(actor, body.agent)
        run_request = body.to_request(seed=idempotency_digest(actor, key) or new_external_id())
        accepted = engine.start_run(
            agent=agent, request=run_request, actor=actor, idempotency_key=key
        )
        return _accepted(accepted)

    @operation(
        "GET",
        "Read one run, with its terminal event",
        {200: ReadRun},
        parameters=[
            query("wait", "Respond when the run pauses or ends, or after this many seconds.", _WAIT)
        ],
    )
    def get_run(self, request: Request, run_id: UUID) -> Response:
        check_wait(request.query_params.get("wait", "0"))
        run = threads.run_for(self.actor, run_id)
        terminal = threads.terminal_event_of(run)
        return Response(
            represent_run(
                run,
                terminal,
                may_see_secrets=self.may_see_secrets,
                model=ReadRun,
                exceptions=agent_errors_for(self.actor, run),
            )
        )

    @operation(
        "POST",
        "Cancel an active run, or the open interrupts of an interrupted one",
        {200: Run},
        scope=Permission.RUN,
        refusals=(errors.RunEnded, errors.Claimed, errors.InboxOnly),
    )
    def cancel_run(self, request: Request, run_id: UUID) -> Response:
        # A key without the scope `read` gets the result of its own request.
        run = cancel_run(run_id=run_id, actor=self.actor)
        return Response(represent_run(run, threads.terminal_event_of(run)))

    @operation(
        "POST",
        "Retry a failed run",
        {202: AcceptedRun},
        scope=Permission.RUN,
        description="The new run has the same input and decisions. Calls with an unknown outcome "
        "become interrupts first.",
        refusals=(errors.RetryRejected, errors.LimitReached),
    )
    def retry_run(self, request: Request, run_id: UUID) -> Response:
        accepted = engine.retry_run(run_id, self.actor)
        return _accepted(accepted)


def represent_run(
    row: "models.Run",
    terminal: str = "",
    *,
    may_see_secrets: bool = False,
    model: type[Run] = Run,
    **values: Any,
) -> dict[str, Any]:
    """Return a run; secrets in its terminal event are masked unless `may_see_secrets`."""
    event = json.loads(terminal) if terminal else None
    if event and not may_see_secrets:
        event = masked_event(event)
    return model.represent(row, terminal_event=event, **values)


def _accepted(accepted: StartedRun) -> Response:
    answer = represent_run(accepted.run, model=AcceptedRun, replayed=accepted.replayed)
    return created_response(answer, replayed=accepted.replayed, status=202)


def agent_parameter(query: Mapping[str, str]) -> str:
    """Raises InvalidInput."""
    name = query.get("agent", "")
    if name and not slug_re.fullmatch(name):
        raise errors.InvalidInput("`agent` is the name of an agent.")
    return name


def _statuses(text: str) -> list[RunStatus]:
    """Return the statuses that a comma separates."""
    try:
        return [RunStatus(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise errors.InvalidInput(
            f"`status` is one of {', '.join(RunStatus)}, or several."
        ) from error


def _id_parameter(name: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise errors.InvalidInput(f"`{name}` is the id of a {name}.") from error
