"""Pages of a thread's tool calls and audit entries; callers have checked access to the thread."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Prefetch

from inbox.models import AuditEntry, Decision, Interrupt, Thread, ToolCall


def tool_calls_page(thread: Thread, *, limit: int, after: UUID | None = None) -> Sequence[ToolCall]:
    """Return up to `limit` tool calls with their decisions, in order, after the id `after`."""
    interrupts = Prefetch("interrupts", queryset=Interrupt.objects.order_by("created_at", "pk"))
    decisions = Prefetch(
        "interrupts__decisions",
        queryset=Decision.objects.filter(withdrawn_at=None),
        to_attr="standing",
    )
    rows = ToolCall.objects.filter(thread=thread).prefetch_related(interrupts, decisions)
    rows = rows.order_by("pk")
    return list((rows if after is None else rows.filter(pk__gt=after))[:limit])


def audit_entries_page(thread: Thread, *, limit: int, after: int = 0) -> Sequence[AuditEntry]:
    """Return up to `limit` entries of the thread's chain with payloads, after the seq `after`."""
    rows = AuditEntry.objects.filter(chain=thread.pk, seq__gt=after).select_related("payload")
    return list(rows.order_by("seq")[:limit])
