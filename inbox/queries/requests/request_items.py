"""The items of a request of an external agent, with their decisions and calls."""

import json
from typing import NamedTuple
from uuid import UUID

from django.db.models import FilteredRelation, Q

from inbox.models import Decision, Interrupt, ToolCall
from inbox.models.statements import Select
from inbox.rules.decisions.gate import Entrance
from inbox.rules.requests.request_outcomes import item_status
from inbox.rules.requests.request_states import ItemStatus
from inbox.rules.runs.states import InterruptStatus, Reason


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


_INTERRUPTS = Select(
    lambda params: (
        Interrupt.objects.filter(thread=params.thread)
        .exclude(reason=Reason.OUTCOME_UNKNOWN)
        .annotate(in_force=FilteredRelation("decisions", condition=Q(decisions__withdrawn_at=None)))
        .select_related("tool_call", "in_force")  # type: ignore[misc] # knows no relations
        .order_by("created_at", "position")
    )
)


def load_items(thread_id: UUID) -> list[RequestItem]:
    """Return the items of the request of a thread, in the program's order."""
    items: dict[str, RequestItem] = {}
    names: dict[UUID, str] = {}  #: of the items, by their interrupts
    for row in _INTERRUPTS.all(thread=thread_id):
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
