"""Requests of external agents, as programs and people read them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings

from inbox.models import AgentRequest, Channel, Decision, Interrupt, Membership
from inbox.models.statements import Select
from inbox.queries.people.access import access_filter, require
from inbox.queries.requests.programs import is_program, threads_of_program
from inbox.queries.requests.request_items import RequestItem, items_of_threads, load_items
from inbox.queries.runs.interrupt_states import entry_of
from inbox.queries.runs.threads import HEAVY_OF_THREADS
from inbox.rules.decisions.consent import digest
from inbox.rules.decisions.feedback import feedback_of
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import NotFound
from inbox.rules.people.access import DECIDERS, Actor, Permission, may_see_secrets
from inbox.rules.requests.execution import call_state
from inbox.rules.requests.request_states import (
    CallEffect,
    CallState,
    ItemStatus,
    RequestStatus,
)
from inbox.rules.runs.states import ToolCallState
from inbox.rules.schema.mask_agui import secrets_of_answers, secrets_of_arguments

if TYPE_CHECKING:
    from django.db.models import QuerySet

#: Members of `ItemView.by`; a policy and the system are not people.
_BY_POLICY = "policy"


@dataclass(frozen=True)
class ItemView:
    """One item of a request with its decision, and the execution of its call."""

    id: str
    interrupt: UUID
    status: ItemStatus
    tool: str | None
    edited: bool
    args: Any  #: approved: what is to be executed
    args_digest: str | None
    payload: Any
    reason: str | None
    by: Mapping[str, str] | None
    at: datetime | None
    call: UUID | None
    state: CallState | None
    start_before: datetime | None
    lease_until: datetime | None
    effect: CallEffect | None
    report: bool | None


@dataclass(frozen=True)
class RequestView:
    """A request with its items."""

    row: AgentRequest
    run: UUID
    items: Sequence[ItemView]
    people: int  #: who may decide
    notified: int  #: of them, who can be told
    is_masked: bool

    @property
    def decided(self) -> int:
        return sum(item.status is not ItemStatus.OPEN for item in self.items)


def _related() -> "QuerySet[AgentRequest]":
    rows = AgentRequest.objects.select_related("thread", "agent", "team", "session")
    return rows.defer(*(f"thread__{name}" for name in HEAVY_OF_THREADS))


_REQUEST = Select(lambda params: _related().filter(pk=params.pk))


def request_for(actor: Actor, request_id: UUID) -> AgentRequest:
    """
    Return a request of an agent that the actor may run.

    Raises:
        NotFound, Forbidden.
    """
    return _permitted_request(actor, request_id, Permission.RUN)


def request_to_administer(actor: Actor, request_id: UUID) -> AgentRequest:
    """Return a request for its team's administrators, as keys may have no other scope."""
    return _permitted_request(actor, request_id, Permission.ADMIN)


def _permitted_request(actor: Actor, request_id: UUID, permission: Permission) -> AgentRequest:
    row = _REQUEST.first(pk=request_id)
    if row is None:
        raise NotFound()
    require(actor, row.team_id, permission, row.agent_id)
    return row


def url_of(row: AgentRequest) -> str:
    """Return the address of the page on which people decide."""
    return f"{settings.PUBLIC_URL}/threads/{row.thread_id}/"


def item_of_interrupt(actor: Actor, interrupt_id: UUID) -> tuple[UUID, str]:
    """
    Return the request and the item's id of an interrupt that a program has asked about.

    Raises:
        NotFound: also if the actor may not see it, or a worker drives the agent.
    """
    row = Interrupt.objects.select_related("thread__request").filter(pk=interrupt_id).first()
    request: AgentRequest | None = getattr(row.thread, "request", None) if row else None
    if row is None or request is None:
        raise NotFound()
    require(actor, row.team_id, Permission.READ, row.agent_id)
    return request.pk, row.tool_call.tool_call_id if row.tool_call else row.interrupt_id


def requests_for(
    actor: Actor,
    *,
    limit: int,
    after: UUID | None = None,
    status: RequestStatus | None = None,
    agent: str = "",
    session: str = "",
) -> list[AgentRequest]:
    """Return requests in the actor's scope, the latest first."""
    rows = _related().filter(access_filter(actor, Permission.RUN, team="team", agent="agent"))
    if after is not None:
        rows = rows.filter(pk__lt=after)
    if status is not None:
        rows = rows.filter(status=status)
    if agent:
        rows = rows.filter(agent__slug=agent)
    if session:
        rows = rows.filter(session__external_id=session)
    return list(rows.order_by("-pk")[:limit])


def view_of(row: AgentRequest, actor: Actor) -> RequestView:
    """Return a request with its items; secrets are masked for all but programs that may execute."""
    is_masked = not (may_see_secrets(actor) or is_program(actor, row.thread))
    return _view(row, load_items(row.thread_id), _deciders(row.team_id), is_masked=is_masked)


def views_of(rows: Sequence[AgentRequest], actor: Actor) -> list[RequestView]:
    """Return a page of requests as `view_of` does, with the same queries for each page."""
    thread_ids = {row.thread_id for row in rows}
    items = items_of_threads(thread_ids)
    deciders = {team_id: _deciders(team_id) for team_id in {row.team_id for row in rows}}
    unmasked = thread_ids if may_see_secrets(actor) else threads_of_program(actor, thread_ids)
    return [
        _view(
            row,
            items[row.thread_id],
            deciders[row.team_id],
            is_masked=row.thread_id not in unmasked,
        )
        for row in rows
    ]


def _view(
    row: AgentRequest, items: Sequence[RequestItem], deciders: tuple[int, int], *, is_masked: bool
) -> RequestView:
    people, notified = deciders
    execution = json.loads(row.execution)
    is_complete = row.status != RequestStatus.OPEN
    return RequestView(
        row,
        items[0].row.run_id,
        [
            _item(item, execution.get(item.item_id), is_complete=is_complete, is_masked=is_masked)
            for item in items
        ],
        people,
        notified,
        is_masked,
    )


def thread_of_request(request_id: UUID) -> UUID | None:
    """Return the id of a request's thread; checks no permission."""
    return AgentRequest.objects.filter(pk=request_id).values_list("thread", flat=True).first()


def _item(
    item: RequestItem,
    execution: Mapping[str, Any] | None,
    *,
    is_complete: bool,
    is_masked: bool,
) -> ItemView:
    row, call, decision = item.row, item.call, item.decision
    answer = entry_of(row, decision) if decision else None
    payload = answer.payload if answer else None
    args = _args(row, is_complete=is_complete)
    if is_masked:
        args = secrets_of_arguments(row.body).masked(args)
        payload = secrets_of_answers(row.body).masked(payload)
    is_approved = call is not None and is_complete and item.status is ItemStatus.APPROVED
    state = call and call_state(
        ToolCallState(call.state), call.outcome, is_approved=bool(is_approved)
    )
    return ItemView(
        id=item.item_id,
        interrupt=row.pk,
        status=item.status,
        tool=call.name if call else None,
        edited=bool(is_approved and call and call.edited_args is not None),
        args=args,
        args_digest=digest(call.approved_args if is_complete else call.args) if call else None,
        payload=payload,
        reason=_reason(item.status, payload),
        by=_author(decision) if decision else None,
        at=decision.created_at if decision else None,
        call=call.pk if call else None,
        state=state or None,
        start_before=call.start_before if call else None,
        lease_until=call.lease_until if call else None,
        effect=CallEffect(execution["effect"]) if execution else None,
        report=execution["report"] if execution else None,
    )


def _args(row: Interrupt, *, is_complete: bool) -> Any:
    """Return the arguments to execute, or the proposed ones while decisions may change."""
    call = row.tool_call
    if call is None:
        return None
    return call.approved if is_complete else call.proposed


def _reason(status: ItemStatus, payload: Any) -> str | None:
    """Return what a person wrote with a denial."""
    if status is not ItemStatus.DENIED or not isinstance(payload, dict):
        return None
    reason = feedback_of(payload) or payload.get("reason")
    return reason if isinstance(reason, str) and reason else None


def _author(decision: Decision) -> dict[str, str]:
    is_policy = decision.entrance == Entrance.POLICY
    kind = _BY_POLICY if is_policy else decision.actor_kind
    return {"kind": kind, "name": decision.actor_label}


def _deciders(team_id: UUID) -> tuple[int, int]:
    """Return how many people may decide in the team, and how many of them can be told."""
    members = Membership.objects.filter(team=team_id, role__in=DECIDERS, user__is_active=True)
    people = set(members.values_list("user", flat=True))
    channels = Channel.objects.filter(user__in=people, removed_at=None, disabled_at=None)
    return len(people), len(set(channels.values_list("user", flat=True)))
