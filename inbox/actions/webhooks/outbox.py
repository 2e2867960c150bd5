"""The webhook outbox: messages are stored in the transaction of the change they report."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from inbox import wakeups
from inbox.models import (
    AgentRequest,
    Channel,
    Delivery,
    Grant,
    Interrupt,
    PolicyVersion,
    Run,
    Team,
    Thread,
    ToolCall,
    WebhookEndpoint,
)
from inbox.models.locks import lock_thread
from inbox.models.statements import Select
from inbox.platform.monitoring.metrics import RUNS_ENDED
from inbox.queries.policies.policies import stored_ruling
from inbox.rules.people.access import Actor
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import InterruptStatus, RunStatus
from inbox.rules.schema.mask_agui import secrets_of_answers
from inbox.rules.webhooks.delivery_rules import EventType

#: The event of a closed interrupt, by whether it has expired.
_CLOSED = {EventType.INTERRUPT_DECIDED: False, EventType.INTERRUPT_EXPIRED: True}


def run_ended(*, thread: Thread, run_id: UUID, status: RunStatus, now: datetime) -> None:
    """Store messages that a run was interrupted or has finished; the caller holds the lock."""
    RUNS_ENDED.add_on_commit(status.value)
    is_interrupted = status is RunStatus.INTERRUPTED
    kind = EventType.RUN_INTERRUPTED if is_interrupted else EventType.RUN_FINISHED
    endpoints = _endpoints_for(thread, kind)
    if endpoints:
        run = Run.objects.get(pk=run_id)
        facts = {**_run(run), "status": run.status, "error_code": run.error_code or None}
        _store(endpoints, kind, thread, [(None, {"run": facts})], now)


def interrupts_opened(
    *, thread: Thread, interrupts: Sequence[Interrupt], now: datetime, reopened: bool = False
) -> None:
    """
    Store messages about opened interrupts; the caller holds the lock.

    `reopened` interrupts were reported as decided before; their decision was withdrawn.
    """
    rows = [(row, {"reopened": reopened}) for row in interrupts]
    _report_interrupts(EventType.INTERRUPT_OPENED, thread, rows, now)


def interrupts_closed(
    *,
    thread: Thread,
    answers: Sequence[tuple[Interrupt, ResumeEntry]],
    actor: Actor,
    now: datetime,
    override: bool = False,
) -> None:
    """
    Store messages about decided or expired interrupts; the caller holds the lock.

    `override` tells that they were approved despite the policy.
    """
    for kind, is_expired in _CLOSED.items():
        rows = [
            (row, {"decision": _decision(row, entry, actor, now, override=override)})
            for row, entry in answers
            if (row.status == InterruptStatus.EXPIRED) is is_expired
        ]
        _report_interrupts(kind, thread, rows, now)


def interrupt_reminded(*, thread: Thread, interrupt: Interrupt, now: datetime) -> None:
    """Store messages that people are reminded of an interrupt; the caller holds the lock."""
    _report_interrupts(EventType.INTERRUPT_REMINDED, thread, [(interrupt, {})], now)


def interrupt_escalated(
    *, thread: Thread, interrupt: Interrupt, to: Sequence[str], now: datetime
) -> None:
    """Store messages that groups or roles may decide from now on; the caller holds the lock."""
    rows = [(interrupt, {"to": list(to)})]
    _report_interrupts(EventType.INTERRUPT_ESCALATED, thread, rows, now)


def grant_changed(kind: EventType, *, thread: Thread, grant: Grant, now: datetime) -> None:
    """
    Store messages that a grant was made or has ended; the caller holds the thread's lock.

    The messages belong to this thread; a grant for all threads of an agent may end in any.
    """
    if endpoints := _endpoints_for(thread, kind):
        facts = {
            "id": str(grant.pk),
            "tool": grant.tool,
            "scope": "thread" if grant.thread_id else "agent",
            "made_by": grant.maker_label,
            "made_from": str(grant.made_from_id),
            "expires_at": _timestamp(grant.expires_at),
            "used": grant.used,
            "most_uses": grant.most_uses,
            "end_reason": grant.end_reason or None,
        }
        _store(endpoints, kind, thread, [(None, {"grant": facts})], now)


def policy_published(*, team: Team, version: PolicyVersion, now: datetime) -> None:
    """Store messages that a version of the policy is in force; the caller holds the team's lock."""
    kind = EventType.POLICY_PUBLISHED
    if endpoints := [pk for pk, types in _ENDPOINTS.all(team=team.pk) if kind in types]:
        facts = {
            "version": version.number,
            "digest": version.digest,
            "comment": version.comment,
            "author": version.author_label,
            "published_by": version.publisher_label,
            "url": _link(f"/teams/{team.slug}/policy/{version.number}/"),
        }
        _insert(endpoints, kind, [(None, {"policy": facts, "team": team.slug})], now)


def channel_disabled(*, channel: Channel, now: datetime) -> None:
    """Store messages that a chat was switched off; the caller holds the channel's lock."""
    kind = EventType.CHANNEL_DISABLED
    if endpoints := [pk for pk, types in _ENDPOINTS.all(team=channel.team_id) if kind in types]:
        team = channel.team.slug if channel.team else ""
        facts = {
            "id": str(channel.pk),
            "kind": channel.kind,
            "label": channel.label,
            "reason": channel.disabled_reason,
            "url": _link(f"/teams/{team}/channels/"),
        }
        _insert(endpoints, kind, [(None, {"channel": facts, "team": team})], now)


def interrupt_endorsed(
    *,
    thread: Thread,
    interrupt: Interrupt,
    by: str,
    answer: Any,
    endorsed: int,
    of: int,
    now: datetime,
) -> None:
    """Store messages that one of several people answered; the caller holds the lock."""
    masked = secrets_of_answers(interrupt.body).masked(answer)
    rows = [(interrupt, {"by": by, "answer": masked, "endorsed": endorsed, "of": of})]
    _report_interrupts(EventType.INTERRUPT_ENDORSED, thread, rows, now)


def request_decided(*, thread: Thread, request: AgentRequest, now: datetime) -> None:
    """Store messages that a program's request is decided; the caller holds the lock."""
    if endpoints := _endpoints_for(thread, EventType.REQUEST_DECIDED):
        _insert(
            endpoints,
            EventType.REQUEST_DECIDED,
            [(None, request_facts(thread, request))],
            now,
            thread,
        )


def program_called_back(*, thread: Thread, request: AgentRequest, now: datetime) -> None:
    """Store the message to the program itself, by the callback endpoint of its agent."""
    endpoint = WebhookEndpoint.objects.filter(agent=thread.agent_id, removed_at=None).first()
    if endpoint is not None:
        _insert(
            [endpoint.pk],
            EventType.REQUEST_DECIDED,
            [(None, request_facts(thread, request))],
            now,
            thread,
            url=request.callback,
        )


def call_reported(
    kind: EventType, *, thread: Thread, request: AgentRequest, call: ToolCall, now: datetime
) -> None:
    """
    Store messages about the execution of a call by its program; the caller holds the lock.

    `kind` is CALL_IN_DOUBT or CALL_DEVIATED.
    """
    if endpoints := _endpoints_for(thread, kind):
        facts = {
            **request_facts(thread, request),
            "call": {"id": str(call.pk), "item": call.tool_call_id, "tool": call.name},
        }
        _insert(endpoints, kind, [(None, facts)], now, thread)


def request_facts(thread: Thread, request: AgentRequest) -> dict[str, Any]:
    """Return a request without its content, which readers with access fetch by id."""
    return {
        "request": {
            "id": str(request.pk),
            "status": request.status,
            "url": _link(f"/threads/{thread.pk}/"),
            "session": request.session.external_id if request.session else None,
        },
        "agent": thread.agent.slug,
        "team": thread.team.slug,
    }


@transaction.atomic(durable=True)
def warn_of_expiry(*, thread_id: UUID) -> int:
    """
    Store a notice for each interrupt of the thread that expires soon; return how many.

    Safe to replay: each interrupt gets one notice.
    """
    thread, now = lock_thread(thread_id)
    notices = Delivery.objects.filter(type=EventType.INTERRUPT_EXPIRING, interrupt=OuterRef("pk"))
    interrupts_near_expiry = Interrupt.objects.filter(
        ~Exists(notices),
        thread=thread,
        status=InterruptStatus.OPEN,
        expires_at__gt=now,
        expires_at__lte=now + settings.EXPIRY_NOTICE,
    )
    rows = list(interrupts_near_expiry.order_by("pk"))
    _report_interrupts(EventType.INTERRUPT_EXPIRING, thread, [(row, {}) for row in rows], now)
    return len(rows)


def message(kind: str, data: Mapping[str, Any], now: datetime) -> str:
    """Return the JSON text of a message (Standard Webhooks: type, timestamp, data)."""
    body = {"type": kind, "timestamp": _timestamp(now), "data": data}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _endpoints_for(thread: Thread, kind: EventType) -> list[UUID]:
    """Return the team's endpoints for this event; disabled ones get the messages later."""
    # Read once for each locked thread, which is once a transaction.
    if "webhooks" not in vars(thread):
        vars(thread)["webhooks"] = _ENDPOINTS.all(team=thread.team_id)
    return [pk for pk, types in vars(thread)["webhooks"] if kind in types]


_ENDPOINTS = Select(
    lambda params: WebhookEndpoint.objects.filter(team=params.team, removed_at=None).values_list(
        "pk", "event_types"
    )
)


def _report_interrupts(
    kind: EventType,
    thread: Thread,
    rows: Sequence[tuple[Interrupt, Mapping[str, Any]]],
    now: datetime,
) -> None:
    endpoints = _endpoints_for(thread, kind) if rows else []
    if endpoints:
        # Rows of a worker refer to runs that are not loaded.
        runs = Run.objects.in_bulk({row.run_id for row, _ in rows})
        facts = [
            (row, {"interrupt": _interrupt(row), **more, "run": _run(runs[row.run_id])})
            for row, more in rows
        ]
        _store(endpoints, kind, thread, facts, now)


def _store(
    endpoints: Sequence[UUID],
    kind: EventType,
    thread: Thread,
    facts: Sequence[tuple[Interrupt | None, Mapping[str, Any]]],
    now: datetime,
) -> None:
    context = {
        "thread": {
            "id": str(thread.pk),
            "thread_id": thread.external_id,
            "url": _link(f"/threads/{thread.pk}/"),
        },
        "agent": thread.agent.slug,
        "team": thread.team.slug,
    }
    _insert(endpoints, kind, [(row, {**fact, **context}) for row, fact in facts], now, thread)


def _insert(
    endpoints: Sequence[UUID],
    kind: EventType,
    facts: Sequence[tuple[Interrupt | None, Mapping[str, Any]]],
    now: datetime,
    thread: Thread | None = None,
    url: str = "",
) -> None:
    Delivery.objects.bulk_create(
        Delivery(
            endpoint_id=endpoint,
            thread=thread,
            interrupt=row,
            type=kind,
            url=url,
            body=message(kind, fact, now),
            next_try_at=now,
            created_at=now,
        )
        for row, fact in facts
        for endpoint in endpoints
    )
    for endpoint in endpoints:
        wakeups.wake_webhook_workers_on_commit(endpoint)


def _run(run: Run) -> dict[str, Any]:
    return {"id": str(run.pk), "run_id": run.external_id}


def _interrupt(row: Interrupt) -> dict[str, Any]:
    """Return an interrupt without its content, which readers with access fetch by id."""
    return {
        "id": str(row.pk),
        "interrupt_id": row.interrupt_id,
        "status": row.status,
        "reason": row.reason,
        "tool": row.tool or None,
        "expires_at": _timestamp(row.expires_at) if row.expires_at else None,
        "url": _link(f"/interrupts/{row.pk}/"),
    }


def _decision(
    row: Interrupt, entry: ResumeEntry, actor: Actor, now: datetime, *, override: bool
) -> dict[str, Any]:
    approved = entry.payload.get("approved") if isinstance(entry.payload, dict) else None
    return {
        "status": entry.status.value,
        "approved": approved if isinstance(approved, bool) else None,
        "by": actor.label[:160],
        "kind": actor.kind.value,
        "at": _timestamp(now),
        "override": override,
        "policy": _policy(row),
    }


def _policy(row: Interrupt) -> dict[str, Any] | None:
    """Return the policy that ruled on the interrupt, without the values of arguments."""
    ruling = stored_ruling(row)
    if ruling is None or row.ruling is None:
        return None
    version, installation = row.ruling.version, row.ruling.installation_version
    return {
        "version": version.number if version else None,
        "installation_version": installation.number if installation else None,
        "rules": list(ruling.rules),
    }


def _link(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"


def _timestamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
