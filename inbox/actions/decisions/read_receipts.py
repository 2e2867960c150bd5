"""Read receipts: who has viewed an interrupt."""

from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import Interrupt, Sighting
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require_person
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage


@transaction.atomic(durable=True)
def record_view(*, interrupt_id: UUID, view_digest: str, actor: Actor) -> Sighting:
    """
    Record that a person has viewed an interrupt in its current form.

    Safe to replay: the same view is recorded once. Open pages are not woken, as they do not change.

    Raises:
        NotFound, Forbidden.
        ViewChanged: `view_digest` is not that of the current view.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.READ)
    interrupt = Interrupt.objects.select_related("tool_call", "run").get(pk=interrupt_id)
    if view_digest != interrupt.shown_digest:
        raise errors.ViewChanged(
            TranslatableMessage("The request changed after the page was loaded.")
        )
    sighting, is_new = Sighting.objects.get_or_create(
        interrupt=interrupt, user_id=user_id, view_digest=view_digest, defaults={"at": now}
    )
    if is_new:
        audit_trail.record(
            "interrupt.viewed",
            actor,
            now,
            thread=thread,
            run=interrupt.run,
            interrupt=interrupt,
            tool_call=interrupt.tool_call,
            # Without the digests of the arguments: viewing is not approving.
            digests={"view": view_digest},
        )
    return sighting
