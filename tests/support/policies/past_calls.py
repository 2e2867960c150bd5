"""Many past requests of a team, copied from those that a run has made."""

import json
from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from inbox.models import Decision, Interrupt, Ruling, ToolCall


def copy_requests(
    interrupts: Sequence[Interrupt],
    number: int,
    *,
    days: float = 29.0,
    args_of: Callable[[int, Any], Any] = lambda _number, args: args,
) -> None:
    """Store copies of requests in turn, with their decisions, from the latest back in time."""
    last = {ruling.interrupt_id: ruling for ruling in Ruling.objects.order_by("number")}
    decisions = {row.interrupt_id: row for row in Decision.objects.filter(withdrawn_at=None)}
    copies: dict[type, list[Any]] = {ToolCall: [], Interrupt: [], Ruling: [], Decision: []}
    now = timezone.now()
    for position in range(number):
        before = interrupts[position % len(interrupts)]
        at = now - timedelta(days=days) * position / number
        row, call = copy(before), copy(before.tool_call)
        args = json.dumps(args_of(position, json.loads(before.args)))
        call.pk, call.tool_call_id, call.args = id_at(at), f"copy-{uuid4()}", args
        row.pk, row.tool_call, row.args, row.created_at = id_at(at), call, args, at
        row.interrupt_id = f"copy-{position}-{uuid4()}"
        copies[ToolCall].append(call)
        copies[Interrupt].append(row)
        for model, stored in ((Ruling, last), (Decision, decisions)):
            if before.pk in stored:
                other = copy(stored[before.pk])
                other.pk, other.interrupt = id_at(at), row
                copies[model].append(other)
    for model, rows in copies.items():
        model.objects.bulk_create(rows, batch_size=500)


def id_at(at: datetime) -> UUID:
    """Return a new UUIDv7 of a time."""
    random = uuid4().int & ((1 << 80) - 1)
    return UUID(int=int(at.timestamp() * 1000) << 80 | random)
