"""Writing down what somebody tried, and was refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import transaction

from inbox.actions import audit
from inbox.actions.locking import lock_thread
from inbox.domain import errors
from inbox.domain.access import Actor
from inbox.models import Interrupt, Run


@contextmanager
def refusals_written_down(
    tried: str, *, actor: Actor, interrupt_id: UUID | None = None, run_id: UUID | None = None
) -> Iterator[None]:
    """
    Run a transaction, and write down in another one that it was refused; the error goes on.

    Name the interrupt or the run that it is about. Who may not see it leaves no entry: the trail of
    a team is not for strangers to write to.
    """
    try:
        yield
    except errors.NotFound:
        raise
    except errors.Refusal as refusal:
        _write_down(tried, refusal.code, actor, interrupt_id, run_id)
        raise


@transaction.atomic(durable=True)
def _write_down(
    tried: str, code: str, actor: Actor, interrupt_id: UUID | None, run_id: UUID | None
) -> None:
    about = {"interrupts": interrupt_id} if interrupt_id else {"runs": run_id}
    thread, now = lock_thread(**about)
    interrupt = Interrupt.objects.get(pk=interrupt_id) if interrupt_id else None
    audit.record(
        action="interrupt.refused" if interrupt else "run.refused",
        actor=actor,
        now=now,
        thread=thread,
        run=Run(pk=interrupt.run_id if interrupt else run_id),
        interrupt=interrupt,
        tried=tried,
        code=code,
    )
