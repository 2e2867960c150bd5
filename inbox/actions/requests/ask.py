"""Asking for approval from a program that runs by itself."""

import json
from collections.abc import Sequence as Items
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from ag_ui.core import (
    BaseEvent,
    Message,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from ag_ui.core import Interrupt as WireInterrupt
from django.db import transaction
from pydantic import TypeAdapter, ValidationError

from agents.agui import wire
from agents.agui.errors import ProtocolViolation
from agents.agui.sequence import Sequence
from agents.sdk.expiry import format_expires_at
from inbox.actions.agents.pauses import check_not_paused, count_refused_request
from inbox.actions.audit import audit_trail
from inbox.actions.idempotency import IdempotencyKey, created_row, existing_result, replace_result
from inbox.actions.limits.limit_checks import check_before_request, check_stored_request
from inbox.actions.requests.callbacks import encrypted_callback
from inbox.actions.runs import event_log
from inbox.actions.runs.run_lease import EventBatch, RunResult, store_end
from inbox.actions.runs.tool_calls import ProposedCall
from inbox.models import Agent, AgentRequest, AgentSession, Run, Thread
from inbox.models.locks import lock_session, lock_thread
from inbox.models.statements import insert, insert_if_absent
from inbox.platform.clock import database_now
from inbox.queries.people.access import require_current
from inbox.queries.runs.conversations import conversation_before
from inbox.rules import errors
from inbox.rules.agents.remote_agents import is_external
from inbox.rules.decisions.consent import canonical_json, original_text
from inbox.rules.people.access import Actor, Permission
from inbox.rules.requests.drafts import (
    ItemDraft,
    RequestDraft,
    check_draft,
    interrupt_of,
)
from inbox.rules.requests.request_outcomes import attach_digest
from inbox.rules.requests.request_states import RequestStatus
from inbox.rules.runs.states import RunStatus, ToolCallState
from inbox.rules.text.messages import TranslatableMessage

_MESSAGES = TypeAdapter(list[Message])


@dataclass(frozen=True)
class AskedRequest:
    """The request that answers a program: a new one, a replayed one, or one that it has joined."""

    request: AgentRequest
    replayed: bool = False
    attached: bool = False


def ask(
    *,
    agent: Agent,
    draft: RequestDraft,
    actor: Actor,
    idempotency: IdempotencyKey,
) -> AskedRequest:
    """
    Ask people about the items of a request, all or none.

    Stores what a worker would: a thread with a run that ends with interrupts. The rules of the
    policies may answer at once. With `attach` an equal call of the same session joins an earlier
    request, until that call is started.

    Safe to replay with an idempotency key.

    Raises:
        Unauthenticated, NotFound, Forbidden, IdempotencyConflict.
        InvalidValue: the agent does not run by itself, or an item cannot be asked.
        AgentPaused.
        LimitReached, RateLimited: the team or the agent has too much open, or the agent asks too
            often. An agent that goes on is paused.
    """
    try:
        return _ask(agent, draft, actor, idempotency)
    except errors.RateLimited as refusal:
        count_refused_request(agent.pk, refusal.detail.get("limit"))
        raise


@transaction.atomic(durable=True)
@audit_trail.inserted_at_end()
def _ask(
    agent: Agent, draft: RequestDraft, actor: Actor, idempotency: IdempotencyKey
) -> AskedRequest:
    now = database_now()
    require_current(actor, agent.team_id, Permission.RUN, agent.pk, now=now)
    if not is_external(agent.implementation):
        raise errors.InvalidValue(
            TranslatableMessage("This agent does not run by itself: start it with POST /api/runs.")
        )
    check_draft(draft)
    if earlier := existing_result(idempotency, actor=actor, now=now):
        return AskedRequest(created_row(AgentRequest, earlier), replayed=True)
    session = _touch_session(agent, draft, now)
    digest = _attach_digest(draft)
    if session and digest and (joined := _joined(session, digest, actor)):
        replace_result(idempotency, joined.pk, actor=actor)
        return AskedRequest(joined, attached=True)
    check_not_paused(agent)
    check_before_request(team_id=agent.team_id, agent_id=agent.pk, now=now)
    request = _store(agent, session, digest, draft, actor, idempotency)
    check_stored_request(team_id=agent.team_id, agent_id=agent.pk, now=now)
    return AskedRequest(request)


def _store(
    agent: Agent,
    session: AgentSession | None,
    digest: str,
    draft: RequestDraft,
    actor: Actor,
    idempotency: IdempotencyKey,
) -> AgentRequest:
    now = database_now()
    first = draft.items[0]
    thread = Thread(
        agent=agent,
        team=agent.team,
        external_id=str(idempotency.result_id),
        title=" ".join((first.title or first.tool).split())[:200],
        client_messages="{}",
        created_at=now,
        updated_at=now,
    )
    run = _run(thread, draft, actor, now)
    request = AgentRequest(
        id=idempotency.result_id,
        team_id=agent.team_id,
        agent_id=agent.pk,
        thread=thread,
        session=session,
        requester=json.dumps(dict(draft.requester)) if draft.requester else None,
        execution=json.dumps({item.item_id: _execution(item) for item in draft.items if item.tool}),
        callback=encrypted_callback(agent, draft.callback_url),
        attach_digest=digest,
        heard_at=now,
        created_at=now,
        expires_at=now + draft.expires_in if draft.expires_in else None,
    )
    batch, result = _outcome(thread, run, draft, now)
    for row in (thread, run, request):
        insert([row])
    audit_trail.record(
        "request.asked",
        actor,
        now,
        thread=thread,
        run=run,
        request=str(request.pk),
        items=[item.item_id for item in draft.items],
        session=draft.session or None,
        requester=dict(draft.requester) if draft.requester else None,
    )
    store_end(thread=thread, run=run, batch=batch, result=result, now=now)
    request.refresh_from_db(fields=["status"])
    return request


def _run(thread: Thread, draft: RequestDraft, actor: Actor, now: datetime) -> Run:
    messages = [
        {"id": f"context-{number}", **message} for number, message in enumerate(draft.messages, 1)
    ]
    try:
        parsed = _MESSAGES.validate_python(messages)
    except ValidationError as error:
        text = TranslatableMessage("The messages of the context are not those of AG-UI.")
        raise errors.InvalidValue(text, problems={"context": [text]}) from error
    run_input = {
        "messages": [
            message.model_dump(mode="json", by_alias=True, exclude_none=True) for message in parsed
        ],
        "state": None,
        "tools": [],
        "context": [],
        "forwardedProps": None,
    }
    return Run(
        team_id=thread.team_id,
        agent_id=thread.agent_id,
        thread=thread,
        external_id=str(uuid4()),
        status=RunStatus.INTERRUPTED,
        pulled=True,
        input=json.dumps(run_input),
        first_seq=1,
        started_by=actor.label[:160],
        requester_user_id=actor.user_id,
        requester_key_id=actor.key_id,
        requester_people=json.dumps(sorted(actor.person_ids)),
        queued_at=now,
        started_at=now,
        finished_at=now,
    )


def _outcome(
    thread: Thread, run: Run, draft: RequestDraft, now: datetime
) -> tuple[EventBatch, RunResult]:
    """Return the events and the result of the run that asks, as an agent would send them."""
    expires_at = format_expires_at(draft.expires_in, now) if draft.expires_in else None
    interrupts = [
        WireInterrupt.model_validate(interrupt_of(item, draft, expires_at)) for item in draft.items
    ]
    conversation, sequence = conversation_before(run, thread), Sequence()
    batch = EventBatch()

    def add(events: Items[BaseEvent], *, from_agent: bool) -> None:
        for event in events:
            sequence.check(event)
            batch.frames.append(event_log.encode_frame(event, from_agent=from_agent))
            conversation.apply(event)

    try:
        add([wire.run_started(thread.external_id, run.external_id)], from_agent=False)
        for item in draft.items:
            if item.tool:
                add(_call_events(item), from_agent=True)
                batch.proposed.append(_proposal(item))
        add([conversation.messages_snapshot()], from_agent=False)
        outcome = RunFinishedInterruptOutcome(type="interrupt", interrupts=interrupts)
        finished = RunFinishedEvent(
            thread_id=thread.external_id, run_id=run.external_id, outcome=outcome
        )
        add([finished], from_agent=False)
    except ProtocolViolation as error:
        raise errors.InvalidValue(
            TranslatableMessage("This cannot be asked over AG-UI: {error}", error=str(error))
        ) from error
    columns = conversation.to_json()
    return batch, RunResult(
        status=RunStatus.INTERRUPTED,
        messages=json.dumps(columns["messages"]),
        state=json.dumps(columns["state"]),
        client_messages=json.dumps(columns["clientMessages"]),
        interrupts=interrupts,
    )


def _call_events(item: ItemDraft) -> list[BaseEvent]:
    arguments = json.dumps(dict(item.args), ensure_ascii=False)
    return [
        ToolCallStartEvent(tool_call_id=item.item_id, tool_call_name=item.tool),
        ToolCallArgsEvent(tool_call_id=item.item_id, delta=arguments),
        ToolCallEndEvent(tool_call_id=item.item_id),
    ]


def _proposal(item: ItemDraft) -> ProposedCall:
    text = _canonical(item)
    return ProposedCall(item.item_id, item.tool, text, original_text(dict(item.args), text))


def _canonical(item: ItemDraft) -> str:
    try:
        return canonical_json(dict(item.args))
    except ValueError as error:
        text = TranslatableMessage("The arguments cannot be stored as JSON: {error}.", error=error)
        raise errors.InvalidValue(text, problems={"args": [text]}) from error


def _execution(item: ItemDraft) -> dict[str, Any]:
    execution = item.execution
    return {
        "report": execution.report,
        "effect": execution.effect.value,
        "lease_seconds": execution.lease_seconds,
        "valid_seconds": execution.valid_seconds,
    }


def _touch_session(agent: Agent, draft: RequestDraft, now: datetime) -> AgentSession | None:
    """Lock the session, which is made if it is new, and store its title and last use."""
    if not draft.session:
        return None
    session = AgentSession(
        agent_id=agent.pk,
        external_id=draft.session,
        title=draft.session_title[:200],
        last_at=now,
    )
    if insert_if_absent([session]):
        return session
    stored = lock_session(agent.pk, draft.session)
    if stored is None:
        raise errors.NotFound()
    stored.last_at = max(now, stored.last_at)
    stored.title = draft.session_title[:200] or stored.title
    stored.save(update_fields=["last_at", "title"])
    return stored


def _attach_digest(draft: RequestDraft) -> str:
    if not draft.attach:
        return ""
    (item,) = draft.items
    return attach_digest(
        session=draft.session,
        tool=item.tool,
        args=_canonical(item),
        may_edit=item.may_edit,
        execution=item.execution,
    )


def _joined(session: AgentSession, digest: str, actor: Actor) -> AgentRequest | None:
    """Return the request that an equal call may join, None if there is none."""
    rows = AgentRequest.objects.filter(session=session, attach_digest=digest)
    candidate = rows.order_by("-pk").first()
    if candidate is None:
        return None
    with suppress(errors.NotFound):
        thread, now = lock_thread(candidate.thread_id)
        candidate = AgentRequest.objects.select_related("session").get(pk=candidate.pk)
        if not _may_be_joined(candidate, now):
            return None
        run = Run.objects.filter(thread=thread).order_by("first_seq", "pk")[0]
        # Whoever uses the approval counts as one who requested it.
        retriers = run.retriers_with(actor)
        if retriers != run.retriers:
            Run.objects.filter(thread=thread).update(retriers=retriers)
        audit_trail.record(
            "request.attached", actor, now, thread=thread, run=run, request=str(candidate.pk)
        )
        return candidate
    return None


def _may_be_joined(request: AgentRequest, now: datetime) -> bool:
    if request.status == RequestStatus.OPEN:
        return request.expires_at is None or request.expires_at > now
    call = request.thread.tool_calls.get()
    return (
        request.status == RequestStatus.DECIDED
        and call.state == ToolCallState.PROPOSED
        and not call.attempt
        and call.start_before is not None
        and call.start_before > now
    )
