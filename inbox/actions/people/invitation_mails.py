"""The mails with the links of invitations: claiming one, and recording the result."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from inbox.models import Invitation
from inbox.models.locks import lock_team
from inbox.platform.clock import database_now
from inbox.rules.notifications.events import SendProblem, retry_delay
from inbox.rules.people.invitations import MailState

#: Longer than sending takes.
LEASE = timedelta(seconds=90)


@dataclass(frozen=True)
class InvitationMail:
    """The mail with the link of an invitation that a worker has claimed."""

    invitation_id: UUID
    digest: str  #: of the link
    address: str
    encrypted_link: str = field(repr=False)
    inviter: str
    team: str
    language: str
    tries: int  #: including this one


@transaction.atomic(durable=True)
def claim_invitation_mail(*, invitation_id: UUID) -> InvitationMail | None:
    """
    Claim the mail of an invitation; return None if it is not due, or the invitation has ended.

    If the worker is lost, the claim expires after LEASE, and the mail is sent again.
    """
    row = _lock(invitation_id)
    now = database_now()
    if row is None or row.next_try_at is None or row.next_try_at > now:
        return None
    if row.accepted_at or row.withdrawn_at or row.expires_at <= now:
        _settle(row, MailState.FAILED)
        return None
    row.tries, row.next_try_at = row.tries + 1, now + LEASE
    row.save(update_fields=["tries", "next_try_at"])
    return InvitationMail(
        row.pk,
        row.digest,
        row.email,
        row.link,
        row.invited_by,
        row.team.name,
        row.language,
        row.tries,
    )


@transaction.atomic(durable=True)
def record_invitation_mail(*, mail: InvitationMail, problem: SendProblem | None) -> bool:
    """
    Record that a mail was sent or why not; return False if there is another claim or link by now.

    A mail that the server cannot take now is tried again until the invitation has ended.
    """
    row = _lock(mail.invitation_id)
    if row is None or (row.digest, row.tries) != (mail.digest, mail.tries):
        return False
    if problem is SendProblem.TEMPORARY:
        row.next_try_at = database_now() + retry_delay(row.tries)
        row.save(update_fields=["next_try_at"])
    else:
        _settle(row, MailState.SENT if problem is None else MailState.FAILED)
    return True


def _lock(invitation_id: UUID) -> Invitation | None:
    """Return an invitation under the lock of its team."""
    team_id = Invitation.objects.values_list("team", flat=True).filter(pk=invitation_id).first()
    if team_id is None:
        return None
    lock_team(team_id)
    return Invitation.objects.select_related("team").filter(pk=invitation_id).first()


def _settle(row: Invitation, state: MailState) -> None:
    row.mail, row.link, row.next_try_at = state, "", None
    row.save(update_fields=["mail", "link", "next_try_at"])
