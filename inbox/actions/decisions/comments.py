"""Comments of reviewers on interrupts."""

from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.idempotency import IdempotencyKey, existing_result
from inbox.models import Comment, Interrupt
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require_person
from inbox.rules.decisions.collaboration import check_comment
from inbox.rules.decisions.consent import digest
from inbox.rules.people.access import Actor, Permission


@transaction.atomic(durable=True)
def add_comment(
    *, interrupt_id: UUID, actor: Actor, text: str, idempotency: IdempotencyKey | None = None
) -> Comment:
    """
    Add a comment of 1 to 4,000 characters to an interrupt; agents never receive it.

    Safe to replay with `idempotency`: the existing comment is returned. The audit trail stores only
    a digest of the text.

    Raises:
        NotFound, Forbidden, InvalidValue, IdempotencyConflict.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.DECIDE)
    check_comment(text)
    idempotency = idempotency or IdempotencyKey()
    if earlier := existing_result(idempotency, actor=actor, now=now):
        return Comment.objects.get(pk=earlier)
    comment = Comment.objects.create(
        pk=idempotency.result_id,
        interrupt_id=interrupt_id,
        user_id=user_id,
        text=text,
        created_at=now,
    )
    audit_trail.record(
        "interrupt.commented",
        actor,
        now,
        thread=thread,
        interrupt=Interrupt(pk=interrupt_id),
        comment=str(comment.pk),
        digest=digest(text),
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return comment
