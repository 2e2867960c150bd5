"""Deciding many interrupts with one answer, each by itself."""

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
    """What became of one item: a decision, or why there is none."""

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

    Each is a `decide` of its own: what is refused does not keep the others from being decided. An
    item without its digest was not shown to anybody and is refused, and so is what has to be looked
    at by itself (`inbox.rules.decisions.bulk`).

    Raises:
        InvalidValue: these are too many.
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
    Take back the actor's answers to up to 100 interrupts; results in their order.

    Raises:
        InvalidValue: these are too many.
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
