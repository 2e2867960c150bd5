"""Telling webhooks: messages are written in the transaction that makes them true."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from inbox import wakeups
from inbox.models import Delivery, Interrupt, Run, Thread, WebhookEndpoint
from inbox.models.locks import lock_thread
from inbox.models.statements import Select
from inbox.rules.people.access import Actor
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import InterruptStatus, RunStatus
from inbox.rules.webhooks.delivery_rules import EventType

#: What is told of a closed question, by whether it has expired.
_CLOSED = {EventType.INTERRUPT_DECIDED: False, EventType.INTERRUPT_EXPIRED: True}


def run_ended(*, thread: Thread, run_id: UUID, status: RunStatus, now: datetime) -> None:
    """Tell that a run was interrupted or has finished; the caller holds the lock."""
    is_interrupted = status is RunStatus.INTERRUPTED
    kind = EventType.RUN_INTERRUPTED if is_interrupted else EventType.RUN_FINISHED
    listening = _listening(thread, kind)
    if listening:
        run = Run.objects.get(pk=run_id)
        facts = {**_run(run), "status": run.status, "error_code": run.error_code or None}
        _tell(listening, kind, thread, [(None, {"run": facts})], now)


def interrupts_opened(
    *, thread: Thread, interrupts: Sequence[Interrupt], now: datetime, reopened: bool = False
) -> None:
    """
    Tell that people are asked; the caller holds the lock.

    A question that is `reopened` was told as decided before: its answer was taken back.
    """
    told = [(row, {"reopened": reopened}) for row in interrupts]
    _tell_about(EventType.INTERRUPT_OPENED, thread, told, now)


def interrupts_closed(
    *,
    thread: Thread,
    answered: Sequence[tuple[Interrupt, ResumeEntry]],
    actor: Actor,
    now: datetime,
) -> None:
    """Tell who has closed questions, or that nobody has; the caller holds the lock."""
    for kind, is_expired in _CLOSED.items():
        told = [
            (row, {"decision": _decision(entry, actor, now)})
            for row, entry in answered
            if (row.status == InterruptStatus.EXPIRED) is is_expired
        ]
        _tell_about(kind, thread, told, now)


@transaction.atomic(durable=True)
def warn_of_expiry(*, thread_id: UUID) -> int:
    """
    Tell, once for each, which of the thread's questions expire soon; return how many.

    Safe to replay.
    """
    thread, now = lock_thread(thread_id)
    told = Delivery.objects.filter(type=EventType.INTERRUPT_EXPIRING, interrupt=OuterRef("pk"))
    late = Interrupt.objects.filter(
        ~Exists(told),
        thread=thread,
        status=InterruptStatus.OPEN,
        expires_at__gt=now,
        expires_at__lte=now + settings.EXPIRY_NOTICE,
    )
    rows = list(late.order_by("pk"))
    _tell_about(EventType.INTERRUPT_EXPIRING, thread, [(row, {}) for row in rows], now)
    return len(rows)


def message(kind: str, data: Mapping[str, Any], now: datetime) -> str:
    """The JSON text of a message (Standard Webhooks: type, timestamp, data)."""
    told = {"type": kind, "timestamp": _moment(now), "data": data}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _listening(thread: Thread, kind: EventType) -> list[UUID]:
    """The team's endpoints for these messages; one that is switched off gets them later."""
    return [pk for pk, types in _ENDPOINTS.all(team=thread.team_id) if kind in types]


_ENDPOINTS = Select(
    lambda params: WebhookEndpoint.objects.filter(team=params.team, removed_at=None).values_list(
        "pk", "event_types"
    )
)


def _tell_about(
    kind: EventType,
    thread: Thread,
    told: Sequence[tuple[Interrupt, Mapping[str, Any]]],
    now: datetime,
) -> None:
    listening = _listening(thread, kind) if told else []
    if listening:
        # A worker's interrupts have runs of which it knows the id only.
        runs = Run.objects.in_bulk({row.run_id for row, _ in told})
        facts = [
            (row, {"interrupt": _interrupt(row), **more, "run": _run(runs[row.run_id])})
            for row, more in told
        ]
        _tell(listening, kind, thread, facts, now)


def _tell(
    listening: Sequence[UUID],
    kind: EventType,
    thread: Thread,
    facts: Sequence[tuple[Interrupt | None, Mapping[str, Any]]],
    now: datetime,
) -> None:
    whose = _whose(thread)
    Delivery.objects.bulk_create(
        Delivery(
            endpoint_id=endpoint,
            thread=thread,
            interrupt=row,
            type=kind,
            body=message(kind, {**fact, **whose}, now),
            next_try_at=now,
            created_at=now,
        )
        for row, fact in facts
        for endpoint in listening
    )
    for endpoint in listening:
        wakeups.wake_webhook_workers_on_commit(endpoint)


def _whose(thread: Thread) -> dict[str, Any]:
    return {
        "thread": {
            "id": str(thread.pk),
            "thread_id": thread.external_id,
            "url": _link(f"/threads/{thread.pk}/"),
        },
        "agent": thread.agent.slug,
        "team": thread.team.slug,
    }


def _run(run: Run) -> dict[str, Any]:
    return {"id": str(run.pk), "run_id": run.external_id}


def _interrupt(row: Interrupt) -> dict[str, Any]:
    """A question, without what is asked: whoever may know that reads it by its id."""
    return {
        "id": str(row.pk),
        "interrupt_id": row.interrupt_id,
        "status": row.status,
        "reason": row.reason,
        "tool": row.tool or None,
        "expires_at": _moment(row.expires_at) if row.expires_at else None,
        "url": _link(f"/interrupts/{row.pk}/"),
    }


def _decision(entry: ResumeEntry, actor: Actor, now: datetime) -> dict[str, Any]:
    approved = entry.payload.get("approved") if isinstance(entry.payload, dict) else None
    return {
        "status": entry.status.value,
        "approved": approved if isinstance(approved, bool) else None,
        "by": actor.label[:160],
        "kind": actor.kind.value,
        "at": _moment(now),
    }


def _link(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
