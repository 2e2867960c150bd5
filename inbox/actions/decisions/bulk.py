"""Deciding or withdrawing many interrupts, each in its own transaction."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.models import Decision, Endorsement
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import EntryStatus

MAX_ITEMS = 100


@dataclass(frozen=True)
class BulkResult:
    """The result for one interrupt: a decision, or the reason why there is none."""

    interrupt_id: UUID
    decision: Decision | None
    refusal: errors.RequestRejected | None = None


def decide_many(
    *,
    items: Sequence[tuple[UUID, str]],
    status: EntryStatus,
    payload: Any,
    actor: Actor,
    entrance: Entrance,
) -> list[BulkResult]:
    """
    Give the same answer to up to 100 interrupts, as (id, view digest); results in their order.

    Each is a `decide` of its own; a rejected item does not affect the others. Items without a
    digest are rejected, and so are interrupts that need individual review
    (`inbox.rules.decisions.bulk`).

    Raises:
        InvalidValue: more than MAX_ITEMS.
    """
    answer = {"status": status, "payload": payload, "actor": actor, "entrance": entrance}
    return _results(
        (pk, partial(decide, interrupt_id=pk, view_digest=view_digest, **answer))
        for pk, view_digest in items
    )


def withdraw_many(*, interrupt_ids: Sequence[UUID], actor: Actor) -> list[BulkResult]:
    """
    Withdraw the actor's decisions on up to 100 interrupts; results in their order.

    Raises:
        InvalidValue: more than MAX_ITEMS.
    """
    return _results(
        (pk, partial(withdraw_decision, interrupt_id=pk, actor=actor)) for pk in interrupt_ids
    )


def _results(
    actions: Iterable[tuple[UUID, Callable[[], Decision | Endorsement]]],
) -> list[BulkResult]:
    """Call each action; a rejected one does not affect the others."""
    actions = list(actions)
    if len(actions) > MAX_ITEMS:
        raise errors.InvalidValue(
            f"Up to {MAX_ITEMS} requests can be decided at once; {len(actions)} were sent."
        )
    results = []
    for interrupt_id, act in actions:
        try:
            result = act()
            # The gate refuses in bulk what several people have to approve.
            results.append(
                BulkResult(interrupt_id, result if isinstance(result, Decision) else None)
            )
        except errors.RequestRejected as refusal:
            results.append(BulkResult(interrupt_id, None, refusal))
    return results
