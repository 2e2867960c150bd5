"""Links of mails by which people decide requests: issuing, using and ending them."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from inbox.actions.audit import audit_trail
from inbox.models import DecisionLink, Interrupt, Thread, User
from inbox.queries.notifications.links import has_link
from inbox.rules.decisions.links import TOKEN_BYTES, link_end, token_digest
from inbox.rules.errors import Unauthenticated
from inbox.rules.people.access import NOTIFIER, Actor
from inbox.rules.text.messages import TranslatableMessage


def issue_links(
    interrupts: Sequence[Interrupt], *, user_id: int, message_id: UUID, now: datetime
) -> Mapping[UUID, str]:
    """
    Issue links to a person for those of the requests that links may decide now.

    The caller has checked that the person may decide them, and holds the lock of the channel of the
    mail. Return the tokens by the ids of the interrupts; they are not stored. The first try of a
    mail is recorded in the audit trail, further ones are not: their links replace lost ones.
    """
    offered = [row for row in interrupts if has_link(row, now)]
    if not offered:
        return {}
    is_first_try = not DecisionLink.objects.filter(message_id=message_id).exists()
    tokens = {row.pk: secrets.token_urlsafe(TOKEN_BYTES) for row in offered}
    DecisionLink.objects.bulk_create(
        DecisionLink(
            token_digest=token_digest(tokens[row.pk]),
            interrupt=row,
            user_id=user_id,
            view_digest=row.shown_digest,
            message_id=message_id,
            created_at=now,
            expires_at=link_end(now, row.expires_at),
        )
        for row in offered
    )
    if is_first_try:
        _record_issued(offered, user_id, now)
    return tokens


def _record_issued(interrupts: Sequence[Interrupt], user_id: int, now: datetime) -> None:
    name = User.objects.get(pk=user_id).display_name
    audit_trail.record_all(
        audit_trail.build_entry(
            "link.issued",
            NOTIFIER,
            now,
            team_id=row.team_id,
            interrupt=row,
            to=name,
            user=str(user_id),
        )
        for row in interrupts
    )


def use_link(
    link_id: UUID, *, thread: Thread, interrupt: Interrupt, actor: Actor, now: datetime
) -> None:
    """
    Mark a link as used, in the transaction of its decision, under the thread's lock.

    Raises:
        Unauthenticated: it was used before.
    """
    unused = DecisionLink.objects.filter(pk=link_id, used_at=None)
    if not unused.update(used_at=now):
        raise Unauthenticated(TranslatableMessage("This link was used or has expired."))
    audit_trail.record("link.used", actor, now, thread=thread, interrupt=interrupt)


def end_links(message_id: UUID, now: datetime) -> None:
    """End the unused links of a mail that was not sent."""
    DecisionLink.objects.filter(message_id=message_id, used_at=None, expires_at__gt=now).update(
        expires_at=now
    )
