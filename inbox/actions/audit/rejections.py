"""Auditing rejected actions."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import transaction
from django.db.models import F

from inbox.actions.audit import audit_trail
from inbox.models import Interrupt, RejectionCount, Run
from inbox.models.locks import lock_thread
from inbox.rules import errors
from inbox.rules.people.access import Actor, actor_key


@contextmanager
def audit_rejected(
    tried: str, *, actor: Actor, interrupt_id: UUID | None = None, run_id: UUID | None = None
) -> Iterator[None]:
    """
    Run the block in a transaction; record its rejection in another one, and raise it again.

    Name the interrupt or the run concerned. NotFound is not recorded: people without access must
    not write to a team's trail, unless they have a link to a request. Of repeated rejections only
    some are recorded (`is_recorded`), so that the trail cannot be flooded.
    """
    try:
        with transaction.atomic(durable=True):
            yield
    except errors.RequestRejected as rejection:
        if isinstance(rejection, errors.NotFound) and actor.link_id is None:
            raise
        _record_rejection(tried, rejection.code, actor, interrupt_id, run_id)
        raise


@transaction.atomic(durable=True)
def _record_rejection(
    tried: str, code: str, actor: Actor, interrupt_id: UUID | None, run_id: UUID | None
) -> None:
    about = {"interrupts": interrupt_id} if interrupt_id else {"runs": run_id}
    thread, now = lock_thread(**about)
    count = count_rejection(interrupt_id or run_id or thread.pk, actor, tried, code)
    if not is_recorded(count):
        return
    interrupt = Interrupt.objects.get(pk=interrupt_id) if interrupt_id else None
    audit_trail.record(
        _action(actor, interrupt),
        actor,
        now,
        thread=thread,
        run=Run(pk=interrupt.run_id if interrupt else run_id),
        interrupt=interrupt,
        tried=tried,
        code=code,
        **rejection_detail(count),
    )


def _action(actor: Actor, interrupt: Interrupt | None) -> str:
    if actor.link_id is not None:
        return "link.refused"
    return "interrupt.refused" if interrupt else "run.refused"


def count_rejection(subject_id: UUID, actor: Actor, action: str, code: str) -> int:
    """Count a rejection; return how many of this kind there were, this one included."""
    row, _ = RejectionCount.objects.get_or_create(
        subject_id=subject_id, actor=actor_key(actor), action=action, code=code
    )
    RejectionCount.objects.filter(pk=row.pk).update(count=F("count") + 1)
    row.refresh_from_db(fields=["count"])
    return row.count


def is_recorded(count: int) -> bool:
    """Return whether the rejection with this number is recorded: the 1st, 10th, 100th, ..."""
    return str(count).rstrip("0") == "1"


def rejection_detail(count: int) -> dict[str, int]:
    """Return the audit detail with the count; empty for the first rejection."""
    return {"count": count} if count > 1 else {}
