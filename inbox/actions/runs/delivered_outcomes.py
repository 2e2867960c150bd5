"""Storing which interrupts a client of an older dialect was told of last."""

from collections.abc import Sequence

from django.db import transaction

from inbox.models import DeliveredOutcome, Run
from inbox.models.clock import database_now
from inbox.rules.people.access import Actor, actor_key


@transaction.atomic(durable=True)
def record_delivered_outcome(*, run: Run, interrupt_ids: Sequence[str], actor: Actor) -> None:
    """
    Store that these interrupts of a run are delivered to the actor, in place of earlier ones.

    Such clients may answer without an interrupt id: the answer then counts for what was delivered
    last, and for nothing else, also after a restart. Safe to replay.
    """
    delivered = DeliveredOutcome(
        thread_id=run.thread_id,
        actor=actor_key(actor),
        run=run,
        interrupt_ids=list(interrupt_ids),
        at=database_now(),
    )
    DeliveredOutcome.objects.bulk_create(
        [delivered],
        update_conflicts=True,
        unique_fields=["thread", "actor"],
        update_fields=["run", "interrupt_ids", "at"],
    )
