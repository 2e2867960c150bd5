"""REST: programs that run by themselves ask for approval, wait, start and report."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from hashlib import md5
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.requests.ask import ask
from inbox.actions.requests.call_permits import revoke_call, start_call
from inbox.actions.requests.call_reports import Report, report_call
from inbox.actions.requests.heard import note_heard
from inbox.actions.requests.withdraw_request import withdraw_request
from inbox.api.base.base_view import ApiView, created_response
from inbox.api.base.field_types import UNSET, AgentName, Flag, Id, Range, Text, example, line, url
from inbox.api.base.openapi_descriptions import describe_operation, query
from inbox.api.base.pagination import SLUG
from inbox.api.base.schema import Page, Schema
from inbox.api.runs.long_poll import MAX_WAIT_SECONDS, check_wait
from inbox.api.runs.runs import agent_parameter
from inbox.platform.http.json_renderer import AnyValueJSONRenderer
from inbox.queries.agents import agents
from inbox.queries.requests import requests
from inbox.rules import errors
from inbox.rules.people.access import Permission
from inbox.rules.requests.drafts import MAX_BYTES, MAX_ITEMS, MAX_MESSAGES, ItemDraft, RequestDraft
from inbox.rules.requests.execution import (
    MAX_LEASE_SECONDS,
    MAX_VALID_SECONDS,
    MIN_LEASE_SECONDS,
    MIN_VALID_SECONDS,
    Execution,
)
from inbox.rules.requests.request_outcomes import next_poll_seconds
from inbox.rules.requests.request_states import (
    CallEffect,
    CallState,
    ItemStatus,
    ReportedOutcome,
    RequestStatus,
)

if TYPE_CHECKING:
    from inbox import models

operation = partial(describe_operation, tag="requests", scope=Permission.RUN)

_WAIT = query(
    "wait",
    "Respond when the request is decided, or after this many seconds.",
    {"type": "integer", "minimum": 0, "maximum": MAX_WAIT_SECONDS},
)
_YEAR_SECONDS = 366 * 86_400
_DEFAULT_EXPIRY_SECONDS = 86_400
DIGEST = "9f2c6ab51b3a4f0c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
ATTEMPT = "5b0b3c0e-8f1e-4f57-8a47-5d9a1d6f1e21"

#: No control characters: the id is part of an address.
ItemId = Annotated[str, Text(200, r"^(?!\.{1,2}\Z)[^\x00-\x1f\x7f]+\Z"), example("1")]
Attempt = Annotated[str, Text(100, r"^[^\x00-\x1f\x7f]+\Z"), example(ATTEMPT)]
LeaseSeconds = Annotated[int, Range(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS), example(600)]
JsonObject = Annotated[dict[str, Any], example({"charge": "ch_17", "amount": 4750})]
JsonSchema = Annotated[dict[str, Any], example({"type": "object"})]
Sentence = Annotated[str, Text(10_000, may_be_blank=True), example("Charged twice")]
Title = Annotated[str, line(300), example("Refund 47.50 EUR?")]
Url = Annotated[str, url(2_000), example("https://ci.example.com/runs/9")]


class ExecutionInput(Schema):
    """The execution of an approved call by the program."""

    report: Flag = UNSET
    """False if the program does not report the outcome; then the call is handed over."""
    effect: CallEffect = UNSET
    """`once` for a call that must not happen twice."""
    lease_seconds: LeaseSeconds = UNSET
    """The time to report after a start."""
    valid_seconds: Annotated[int, Range(MIN_VALID_SECONDS, MAX_VALID_SECONDS), example(86_400)] = (
        UNSET
    )
    """The time to start after the decision."""


class ItemInput(Schema):
    id: ItemId = UNSET
    """The program's own id, unique in the request; the number of the item if it is left out."""
    title: Title = UNSET
    """Required for a question, which has no `tool`."""
    tool: Annotated[str, line(200), example("refund")] = UNSET
    args: JsonObject = UNSET
    why: Sentence = UNSET
    may_edit: Flag = False
    """True if people may change the arguments."""
    args_schema: JsonSchema = UNSET
    """The JSON Schema of changed arguments."""
    answer_schema: JsonSchema = UNSET
    """The JSON Schema of the answer to a question; without it, yes or no."""
    metadata: Annotated[dict[str, Any], example({"risk": "medium"})] = UNSET
    execution: ExecutionInput = UNSET


class SessionInput(Schema):
    id: Annotated[str, Text(200, r"^[^\x00-\x1f\x7f]+\Z"), example("nightly:22")]
    title: Annotated[str, Text(200, may_be_blank=True), example("Nightly refunds")] = ""


class RequesterInput(Schema):
    """The requester as the program names it; not verified."""

    name: Annotated[str, line(200), example("dev@laptop")]
    url: Url = UNSET


class ContextInput(Schema):
    messages: Annotated[
        list[dict[str, Any]],
        Field(max_length=MAX_MESSAGES),
        example([{"role": "user", "content": "Customers were charged twice, fix it"}]),
    ] = []
    """The conversation so far, as messages of AG-UI."""


class ReferenceInput(Schema):
    """A link for people; it is never fetched."""

    name: Annotated[str, line(200), example("Report")]
    url: Url
    media_type: Annotated[str, Text(100), example("application/pdf")] = UNSET
    sha256: Annotated[str, Text(64, r"^[0-9a-f]{64}\Z"), example(DIGEST)] = UNSET


class RequestInput(ItemInput):
    """One item with its members here, or several in `items`."""

    agent: AgentName = UNSET
    """May be left out with the key of an agent."""
    call_id: ItemId = UNSET
    """The same as `id`, for one item."""
    items: Annotated[list[ItemInput], Field(min_length=1, max_length=MAX_ITEMS)] = UNSET
    session: SessionInput = UNSET
    requester: RequesterInput = UNSET
    context: ContextInput = UNSET
    expires_in: Annotated[int, Range(1, _YEAR_SECONDS), example(86_400)] | None = (
        _DEFAULT_EXPIRY_SECONDS
    )
    """Seconds; null for never."""
    callback_url: Url = UNSET
    """Called once when the request is decided; below a `callback_prefixes` of the agent."""
    references: Annotated[list[ReferenceInput], Field(max_length=20)] = []
    secret_paths: Annotated[
        list[Annotated[str, Text(500), example("/card/number")]], Field(max_length=50)
    ] = []
    """JSON Pointers to arguments that are masked on pages, beside those with secret names."""
    attach: Flag = False
    """True to join an equal call of the same session that is open, or approved and not started."""

    def to_draft(self) -> RequestDraft:
        """Raises InvalidValue for one item and several at once."""
        own = {name for name in self.model_fields_set if name in _ITEM_MEMBERS}
        if self.items is not None and own - {"execution"}:
            raise errors.InvalidValue(
                f"Send one item or `items`, not both: {', '.join(sorted(own - {'execution'}))}."
            )
        items = self.items if self.items is not None else [self]
        default = self.execution or ExecutionInput()
        return RequestDraft(
            items=[_item(item, number, default) for number, item in enumerate(items, 1)],
            session=self.session.id if self.session else "",
            session_title=self.session.title if self.session else "",
            requester=self.requester.sent() if self.requester else None,
            messages=self.context.messages if self.context else (),
            expires_in=None if self.expires_in is None else timedelta(seconds=self.expires_in),
            callback_url=self.callback_url or "",
            references=[reference.sent() for reference in self.references],
            secret_paths=self.secret_paths,
            attach=self.attach,
        )


_ITEM_MEMBERS = {*ItemInput.model_fields, "call_id"}


class WithdrawalInput(Schema):
    reason: Annotated[str, Text(500, may_be_blank=True), example("No longer needed")] = ""


class StartInput(Schema):
    attempt: Attempt
    """Made up by the program. The same attempt gets the same answer, and a longer lease."""
    args_digest: Annotated[str, Text(64, may_be_blank=True), example(DIGEST)]
    """The `args_digest` of the item as it was read."""
    lease_seconds: LeaseSeconds = UNSET


class ReportInput(Schema):
    attempt: Attempt
    outcome: Literal["succeeded", "failed", "unknown"]
    """`failed` says that the call had no effect; `unknown` that nobody knows."""
    result: Annotated[Any, example("re_9001")] = None
    error: Annotated[str, Text(10_000, may_be_blank=True), example("")] = ""
    executed_args: JsonObject | None = None
    """The executed arguments, if the program can tell; other arguments than the approved ones are
    recorded and displayed."""


class ItemAuthor(Schema):
    kind: Annotated[str, example("human")]
    """`human`, `key`, `policy` or `system`."""
    name: Annotated[str, example("Ana Kovač")]


class RequestItem(Schema):
    id: Annotated[str, example("1")]
    interrupt: Id
    """The interrupt that people decide."""
    status: ItemStatus
    tool: Annotated[str | None, example("refund")]
    edited: bool
    args: Annotated[Any, example({"charge": "ch_17", "amount": 4750})]
    """Of an approved call: what is to be executed."""
    args_digest: Annotated[str | None, example(DIGEST)]
    """The SHA-256 of the canonical JSON (RFC 8785) of `args`, for `start`."""
    payload: Annotated[Any, example({"approved": True})]
    """The answer, as AG-UI has it."""
    reason: Annotated[str | None, example(None)]
    """The text that a person wrote with a denial."""
    by: ItemAuthor | None
    at: datetime | None
    call: Id | None
    """The tool call; its id is the idempotency key of the effect."""
    state: CallState | None
    """The execution of an approved call, once the request is decided."""
    start_before: datetime | None
    lease_until: datetime | None
    effect: CallEffect | None
    report: bool | None


class RequestSession(Schema):
    id: Annotated[str, example("nightly:22")]
    title: Annotated[str, example("Nightly refunds")]


class AskedPeople(Schema):
    people: Annotated[int, example(3)]
    """The number of people who may decide in the team."""
    notified: Annotated[int, example(3)]
    """The number of them who can be reached outside of the inbox."""


class AgentRequest(Schema):
    id: Id
    status: RequestStatus
    url: Annotated[str, example("https://signoff.example.com/threads/0199c7b2/")]
    agent: Annotated[str, example("ci")]
    team: Annotated[str, example("ops")]
    session: RequestSession | None
    requester: Annotated[dict[str, str] | None, example({"name": "dev@laptop"})]
    """What the program says of itself; not verified."""
    thread: Id
    run: Id
    created_at: datetime
    expires_at: datetime | None
    asked: AskedPeople
    items: list[RequestItem]
    decided: Annotated[int, example(0)]
    of: Annotated[int, example(1)]
    next_poll_seconds: Annotated[int, example(5)]


class AnsweredRequest(AgentRequest):
    replayed: bool
    """True if an earlier call with the same Idempotency-Key has asked."""
    attached: bool
    """True if the call has joined an earlier request."""


class StartedCall(Schema):
    state: Literal["started"]
    replayed: bool
    args: JsonObject
    """What was approved: execute these arguments."""
    idempotency_key: Id
    lease_until: datetime | None
    """Until when to report or to start again; null without a report."""


class ReportedCall(Schema):
    state: CallState
    replayed: bool
    late: bool
    """True if a person is asked about the call already; the report stands beside the question."""


_START_REFUSALS = (
    errors.CallStarted,
    errors.NotApproved,
    errors.OtherArguments,
    errors.ApprovalEnded,
    errors.CallInDoubt,
    errors.AlreadyReported,
)


class Requests(ApiView):
    @operation(
        "POST",
        "Ask for approval",
        {201: AnsweredRequest, 200: AnsweredRequest},
        body=RequestInput,
        example={
            "agent": "ci",
            "title": "Refund 47.50 EUR?",
            "tool": "refund",
            "args": {"charge": "ch_17", "amount": 4750},
            "why": "Charged twice",
            "may_edit": True,
            "session": {"id": "nightly:22"},
        },
        parameters=[_WAIT],
        description="For programs that run by themselves, of agents of the kind `external`. 200 if "
        "the request was asked before.",
        is_idempotent=True,
        refusals=(
            errors.AgentPaused,
            errors.InvalidValue,
            errors.LimitReached,
            errors.NotFound,
        ),
    )
    def ask_for_approval(self, request: Request) -> Response:
        check_wait(request.query_params.get("wait", "0"))
        if len(json.dumps(request.data, ensure_ascii=False).encode()) > MAX_BYTES:
            raise errors.TooLarge(f"A request has up to {MAX_BYTES // 1024} KiB.")
        body = RequestInput.from_request(request)
        agent = agents.agent_to_ask(self.actor, body.agent or "")
        result = ask(
            agent=agent, draft=body.to_draft(), actor=self.actor, idempotency=self.idempotency
        )
        row = requests.request_for(self.actor, result.request.pk)
        answer = self._represent(row)
        is_new = not (result.replayed or result.attached)
        response = created_response(
            {**answer, "replayed": result.replayed, "attached": result.attached},
            replayed=result.replayed,
            status=201 if is_new else 200,
        )
        response.headers["Location"] = f"/api/requests/{row.pk}"
        response.headers["ETag"] = _etag_of(answer)
        return response

    @operation(
        "GET",
        "List requests of programs",
        {200: Page[AgentRequest]},
        parameters=[
            query("session", "Only those of this session.", {"type": "string", "maxLength": 200}),
            query("status", "Only those with this status.", {"enum": list(RequestStatus)}),
            query("agent", "Only those of this agent.", SLUG),
        ],
    )
    def list_requests(self, request: Request) -> Response:
        query, pagination = request.query_params, self.pagination
        rows = requests.requests_for(
            self.actor,
            limit=pagination.one_more,
            after=pagination.after_id,
            status=_status(query.get("status", "")),
            agent=agent_parameter(query),
            session=query.get("session", ""),
        )
        views = requests.views_of(rows, self.actor)
        return pagination.page(views, _represent, cursor=attrgetter("row.pk"))

    @operation(
        "GET",
        "Read one request",
        {200: AgentRequest},
        parameters=[_WAIT],
        description="With `If-None-Match`, `wait` responds at any change.",
    )
    def get_request(self, request: Request, request_id: UUID) -> Response:
        check_wait(request.query_params.get("wait", "0"))
        row = requests.request_for(self.actor, request_id)
        note_heard(request=row, actor=self.actor)
        return Response(self._represent(row))

    @operation(
        "POST",
        "Withdraw a request",
        {200: AgentRequest},
        body=WithdrawalInput,
        description="Closes what is open; nothing of the request is executed.",
        refusals=(errors.RequestDecided,),
    )
    def withdraw_request(self, request: Request, request_id: UUID) -> Response:
        body = WithdrawalInput.from_request(request)
        requests.request_for(self.actor, request_id)
        try:
            withdraw_request(request_id=request_id, actor=self.actor, reason=body.reason)
        except errors.RequestDecided as refusal:
            row = requests.request_for(self.actor, request_id)
            raise errors.RequestDecided(refusal.message, request=self._represent(row)) from None
        return Response(self._represent(requests.request_for(self.actor, request_id)))

    @operation(
        "POST",
        "Start an approved call",
        {200: StartedCall},
        body=StartInput,
        description="Each approval is handed out to one attempt. Execute what `args` says, then "
        "report.",
        refusals=_START_REFUSALS,
    )
    def start_call(self, request: Request, request_id: UUID, item: str) -> Response:
        body = StartInput.from_request(request)
        started = start_call(
            request_id=request_id,
            item_id=item,
            attempt=body.attempt,
            args_digest=body.args_digest,
            lease_seconds=body.lease_seconds,
            actor=self.actor,
        )
        return Response(
            StartedCall.represent(
                started,
                state="started",
                idempotency_key=started.call.pk,
                lease_until=started.call.lease_until,
            )
        )

    @operation(
        "POST",
        "Report the outcome of a call",
        {200: ReportedCall},
        body=ReportInput,
        refusals=(errors.NotStarted, errors.CallStarted, errors.AlreadyReported),
    )
    def report_call(self, request: Request, request_id: UUID, item: str) -> Response:
        body = ReportInput.from_request(request)
        reported = report_call(
            request_id=request_id,
            item_id=item,
            report=Report(
                attempt=body.attempt,
                outcome=ReportedOutcome(body.outcome),
                result=body.result,
                error=body.error,
                executed_args=body.executed_args,
            ),
            actor=self.actor,
        )
        return Response(ReportedCall.represent(reported))

    @operation(
        "POST",
        "Revoke the approval of a call that has not started",
        {200: AgentRequest},
        scope=Permission.ADMIN,
        body=WithdrawalInput,
        refusals=(errors.CallStarted, errors.NotApproved),
    )
    def revoke_approval(self, request: Request, request_id: UUID, item: str) -> Response:
        body = WithdrawalInput.from_request(request)
        revoke_call(request_id=request_id, item_id=item, actor=self.actor, reason=body.reason)
        row = requests.request_to_administer(self.actor, request_id)
        return Response(self._represent(row))

    def _represent(self, row: "models.AgentRequest") -> dict[str, Any]:
        return _represent(requests.view_of(row, self.actor))


def _represent(view: "requests.RequestView") -> dict[str, Any]:
    row = view.row
    return AgentRequest.represent(
        row,
        url=requests.url_of(row),
        agent=row.agent.slug,
        team=row.team.slug,
        session={"id": row.session.external_id, "title": row.session.title}
        if row.session
        else None,
        requester=json.loads(row.requester) if row.requester else None,
        thread=row.thread_id,
        run=view.run,
        asked={"people": view.people, "notified": view.notified},
        items=[RequestItem.represent(item) for item in view.items],
        decided=view.decided,
        of=len(view.items),
        next_poll_seconds=next_poll_seconds(RequestStatus(row.status)),
    )


def _item(item: ItemInput, number: int, default: ExecutionInput) -> ItemDraft:
    call_id = item.call_id if isinstance(item, RequestInput) else None
    sent = {**default.sent(), **(item.execution.sent() if item.execution else {})}
    return ItemDraft(
        item_id=item.id or call_id or str(number),
        title=item.title or "",
        tool=item.tool or "",
        args=item.args or {},
        why=item.why or "",
        may_edit=item.may_edit,
        args_schema=item.args_schema,
        answer_schema=item.answer_schema,
        metadata=item.metadata or {},
        execution=Execution(**sent),
    )


def _status(text: str) -> RequestStatus | None:
    try:
        return RequestStatus(text) if text else None
    except ValueError as error:
        raise errors.InvalidInput(f"`status` is one of {', '.join(RequestStatus)}.") from error


def _etag_of(answer: Mapping[str, Any]) -> str:
    """Return the ETag of GET, as Django's middleware makes it."""
    body = AnyValueJSONRenderer().render(answer)
    return f'"{md5(body, usedforsecurity=False).hexdigest()}"'
