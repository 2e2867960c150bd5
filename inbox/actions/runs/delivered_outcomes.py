"""Recording which interrupts were last delivered to a client of a legacy dialect."""

from collections.abc import Sequence

from django.db import transaction

from inbox.models import DeliveredOutcome, Run
from inbox.platform.clock import database_now
from inbox.rules.people.access import Actor, actor_key


@transaction.atomic(durable=True)
def record_delivered_outcome(*, run: Run, interrupt_ids: Sequence[str], actor: Actor) -> None:
    """
    Record that these interrupts of a run are delivered to the actor; replaces the last delivery.

    A client of a legacy dialect may answer without an interrupt id. The answer then applies to the
    last delivery only. Safe to replay.
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
