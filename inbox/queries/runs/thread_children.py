"""What belongs to one thread, a page at a time; whoever asks has been let in to the thread."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Prefetch

from inbox.models import AuditEntry, Decision, Interrupt, Thread, ToolCall


def tool_calls_page(thread: Thread, *, limit: int, after: UUID | None = None) -> Sequence[ToolCall]:
    """The calls in the order proposed, from behind `after` on, each with its decisions."""
    asked = Prefetch("interrupts", queryset=Interrupt.objects.order_by("created_at", "pk"))
    given = Prefetch(
        "interrupts__decisions",
        queryset=Decision.objects.filter(withdrawn_at=None),
        to_attr="standing",
    )
    rows = ToolCall.objects.filter(thread=thread).prefetch_related(asked, given).order_by("pk")
    return list((rows if after is None else rows.filter(pk__gt=after))[:limit])


def audit_entries_page(thread: Thread, *, limit: int, after: int = 0) -> Sequence[AuditEntry]:
    """The entries of the thread's chain, from behind the place `after` on, with their payloads."""
    rows = AuditEntry.objects.filter(chain=thread.pk, seq__gt=after).select_related("payload")
    return list(rows.order_by("seq")[:limit])
