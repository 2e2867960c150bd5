"""Deciding or withdrawing many interrupts, each in its own transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.models import Decision
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
    _check_number(items)
    return [
        _result(
            interrupt_id,
            partial(
                decide,
                interrupt_id=interrupt_id,
                status=status,
                payload=payload,
                view_digest=view_digest,
                actor=actor,
                entrance=entrance,
            ),
        )
        for interrupt_id, view_digest in items
    ]


def withdraw_many(*, interrupt_ids: Sequence[UUID], actor: Actor) -> list[BulkResult]:
    """
    Withdraw the actor's decisions on up to 100 interrupts; results in their order.

    Raises:
        InvalidValue: more than MAX_ITEMS.
    """
    _check_number(interrupt_ids)
    return [
        _result(
            interrupt_id,
            partial(withdraw_decision, interrupt_id=interrupt_id, actor=actor),
        )
        for interrupt_id in interrupt_ids
    ]


def _check_number(items: Sequence[Any]) -> None:
    if len(items) > MAX_ITEMS:
        raise errors.InvalidValue(
            f"Up to {MAX_ITEMS} requests are decided at once; these are {len(items)}."
        )


def _result(interrupt_id: UUID, act: Callable[[], Decision]) -> BulkResult:
    try:
        return BulkResult(interrupt_id, act())
    except errors.RequestRejected as refusal:
        return BulkResult(interrupt_id, None, refusal)
