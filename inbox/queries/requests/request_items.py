"""The items of a request of an external agent, with their decisions and calls."""

import json
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from django.db.models import FilteredRelation, Q

from inbox.models import Decision, Interrupt, ToolCall
from inbox.models.statements import Select
from inbox.rules.decisions.gate import Entrance
from inbox.rules.requests.request_outcomes import item_status
from inbox.rules.requests.request_states import ItemStatus
from inbox.rules.runs.states import InterruptStatus, Reason

if TYPE_CHECKING:
    from django.db.models import QuerySet


class RequestItem(NamedTuple):
    """
    One item of a request.

    `row` is its interrupt, or the last one that repeated it; `item_id` is the program's own id.
    """

    item_id: str
    row: Interrupt
    decision: Decision | None  #: in force
    status: ItemStatus

    @property
    def call(self) -> ToolCall | None:
        return self.row.tool_call


def _with_decisions(rows: "QuerySet[Interrupt]") -> "QuerySet[Interrupt]":
    in_force = FilteredRelation("decisions", condition=Q(decisions__withdrawn_at=None))
    return (
        rows.exclude(reason=Reason.OUTCOME_UNKNOWN)
        .annotate(in_force=in_force)
        .select_related("tool_call", "in_force")  # type: ignore[misc] # knows no relations
        .order_by("created_at", "position")
    )


_INTERRUPTS = Select(lambda params: _with_decisions(Interrupt.objects.filter(thread=params.thread)))


def load_items(thread_id: UUID) -> list[RequestItem]:
    """Return the items of the request of a thread, in the program's order."""
    return _items(_INTERRUPTS.all(thread=thread_id))


def items_of_threads(thread_ids: Collection[UUID]) -> dict[UUID, list[RequestItem]]:
    """Return the items of the request of each thread, with one query for all of them."""
    rows: dict[UUID, list[Interrupt]] = {thread_id: [] for thread_id in thread_ids}
    for row in _with_decisions(Interrupt.objects.filter(thread__in=thread_ids)):
        rows[row.thread_id].append(row)
    return {thread_id: _items(of_thread) for thread_id, of_thread in rows.items()}


def _items(rows: Iterable[Interrupt]) -> list[RequestItem]:
    items: dict[str, RequestItem] = {}
    names: dict[UUID, str] = {}  #: of the items, by their interrupts
    for row in rows:
        name = names[row.repeats_id] if row.repeats_id else row.interrupt_id
        names[row.pk] = name
        decision: Decision | None = getattr(row, "in_force", None)
        items[name] = RequestItem(name, row, decision, _status(row, decision))
    return list(items.values())


def _status(row: Interrupt, decision: Decision | None) -> ItemStatus:
    payload = json.loads(decision.payload) if decision and decision.payload else None
    return item_status(
        InterruptStatus(row.status),
        payload,
        by=decision.actor_label if decision else "",
        is_by_requester=decision is not None and decision.entrance == Entrance.REQUESTER,
    )
