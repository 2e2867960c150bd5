"""Creating, sending, resending and withdrawing invitations to a team."""

import secrets
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import get_language
from limits import parse

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.idempotency import IdempotencyKey, existing_result
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Invitation
from inbox.platform import rate_limits
from inbox.platform.clock import database_now
from inbox.platform.encryption import encrypt
from inbox.queries.people.access import permissions_in
from inbox.queries.people.api_key_tokens import digest_token
from inbox.queries.people.invitations import state_of
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission, Role
from inbox.rules.people.invitations import (
    INVITATION_LIFETIME,
    MAX_EMAIL_CHARACTERS,
    InvitationState,
    MailState,
    check_can_be_sent,
    check_is_open,
    check_room,
)
from inbox.rules.people.teams import check_role_given
from inbox.rules.text.messages import TranslatableMessage

_RESENDS = parse("5/hour")


def invite(
    *,
    team_id: UUID,
    email: str,
    role: Role,
    actor: Actor,
    site: str,
    idempotency: IdempotencyKey | None = None,
) -> tuple[Invitation, str]:
    """
    Invite a person; return the invitation with its link, or "" if the link is sent by mail.

    `site` is the base URL of the link unless SIGNOFF_PUBLIC_URL is set. `Invitation.mail` is the
    state of the mail, which a worker sends. The result does not depend on whether the address has
    an account.

    Safe to replay with `idempotency`: the existing invitation is returned, with "" for its link,
    and no mail is sent.

    Raises:
        NotFound, Forbidden, MoreThanOwn, IdempotencyConflict.
        InvalidValue: with `problems`; also if the address has an open invitation, or the team has
            too many.
    """
    email, idempotency = email.strip().lower(), idempotency or IdempotencyKey()
    with transaction.atomic(durable=True):
        team = lock_permitted_team(team_id, actor, Permission.ADMIN, fresh_sign_in=True)
        now = database_now()
        check_role_given(role=role, before=None, may_give=permissions_in(actor, team_id))
        check_address(email, field="email")
        if earlier := existing_result(idempotency, actor=actor, now=now):
            return Invitation.objects.get(pk=earlier), ""
        open_invitations = Invitation.objects.filter(team=team, accepted_at=None, withdrawn_at=None)
        if open_invitations.filter(email=email).exists():
            text = TranslatableMessage(
                "This address already has an invitation. Send that one again."
            )
            raise errors.InvalidValue(text, problems={"email": [text]})
        check_room(open_invitations.count())
        row = Invitation(
            pk=idempotency.result_id,
            team=team,
            email=email,
            role=role,
            invited_by=actor.label[:160],
            owner_id=actor.person_id,
            created_at=now,
        )
        link = _give_link(row, site, now)
        row.save(force_insert=True)
        record(row, "invitation.sent", actor, now)
        return row, link


def resend_invitation(*, invitation_id: UUID, actor: Actor, site: str) -> tuple[Invitation, str]:
    """
    Send an invitation again with a new link and its full lifetime; the old link becomes invalid.

    Return the invitation with its link, or "" if the link is sent by mail.

    Raises:
        NotFound, Forbidden, MoreThanOwn, InvitationEnded.
        RateLimited: it was sent again five times within the hour.
    """
    with transaction.atomic(durable=True):
        row, now = _lock_invitation(invitation_id, actor, fresh_sign_in=True)
        may_give = permissions_in(actor, row.team_id)
        check_role_given(role=Role(row.role), before=None, may_give=may_give)
        check_can_be_sent(state_of(row, now))
        _check_resends(invitation_id)
        link = _give_link(row, site, now)
        row.owner_id = actor.person_id or row.owner_id
        row.save(
            update_fields=[
                "owner",
                *("digest", "mail", "sent_at", "expires_at"),
                *("link", "language", "tries", "next_try_at"),
            ]
        )
        record(row, "invitation.resent", actor, now)
        return row, link


def _check_resends(invitation_id: UUID) -> None:
    """Raise RateLimited if an invitation is sent again too often."""
    counter = rate_limits.rate_limiter(settings.REDIS_URL)
    resends = counter.count("resent invitations", _RESENDS, str(invitation_id))
    if resends.is_over:
        seconds = resends.next_seconds
        raise errors.RateLimited(
            TranslatableMessage("Sent too often. Try again in {seconds} seconds.", seconds=seconds),
            retry_after=seconds,
        )


@transaction.atomic(durable=True)
def withdraw_invitation(*, invitation_id: UUID, actor: Actor) -> None:
    """
    Withdraw an invitation; its link becomes invalid. Safe to replay.

    Raises:
        NotFound, Forbidden.
        InvitationEnded: somebody has accepted it.
    """
    row, now = _lock_invitation(invitation_id, actor)
    if row.withdrawn_at is not None:
        return
    if row.accepted_at is not None:
        check_is_open(InvitationState.ACCEPTED)
    withdraw(row, actor, now)


def withdraw(row: Invitation, actor: Actor, now: datetime, **detail: str) -> None:
    """Withdraw an invitation, in the transaction of the caller, who has locked the team."""
    row.withdrawn_at = now
    row.save(update_fields=["withdrawn_at"])
    record(row, "invitation.withdrawn", actor, now, **detail)


def _give_link(row: Invitation, site: str, now: datetime) -> str:
    """Give the invitation a new link; return it only if it is not sent by mail."""
    token = secrets.token_urlsafe(32)
    link = f"{settings.PUBLIC_URL or site.rstrip('/')}/join/{token}/"
    row.digest, row.sent_at, row.expires_at = digest_token(token), now, now + INVITATION_LIFETIME
    if not settings.SENDS_MAIL:
        row.mail = MailState.NONE
        return link
    row.mail, row.link, row.tries, row.next_try_at = MailState.SENDING, encrypt(link), 0, now
    row.language = get_language() or settings.LANGUAGE_CODE
    wakeups.wake_inviters_on_commit(row.pk)
    return ""


def _lock_invitation(
    invitation_id: UUID, actor: Actor, *, fresh_sign_in: bool = False
) -> tuple[Invitation, datetime]:
    """Return an invitation under the lock of its team, which the actor must administer."""
    team_id = Invitation.objects.values_list("team", flat=True).filter(pk=invitation_id).first()
    if team_id is None:
        raise errors.NotFound()
    lock_permitted_team(team_id, actor, Permission.ADMIN, fresh_sign_in=fresh_sign_in)
    return Invitation.objects.select_related("team").get(pk=invitation_id), database_now()


def check_address(email: str, *, field: str) -> None:
    """Raise InvalidValue, with a problem of the field, unless a text is an address."""
    try:
        validate_email(email)
        is_valid = len(email) <= MAX_EMAIL_CHARACTERS
    except ValidationError:
        is_valid = False
    if not is_valid:
        text = TranslatableMessage("Enter a valid e-mail address.")
        raise errors.InvalidValue(text, problems={field: [text]})


def record(row: Invitation, action: str, actor: Actor, now: datetime, **detail: Any) -> None:
    audit_trail.record(
        action,
        actor,
        now,
        team_id=row.team_id,
        invitation=str(row.pk),
        email=row.email,
        role=row.role,
        **detail,
    )
