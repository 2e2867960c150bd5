"""Invitations of a team, and the invitation behind a link."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from allauth.account.models import EmailAddress

from inbox.models import Invitation, Team
from inbox.platform.clock import database_now
from inbox.queries.people.access import permissions_in, require
from inbox.queries.people.api_key_tokens import digest_token
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.people.invitations import (
    MAX_OPEN_INVITATIONS,
    InvitationState,
    check_is_open,
    invitation_state,
)


def invitations_for(
    actor: Actor, team_id: UUID, *, limit: int = MAX_OPEN_INVITATIONS, after: UUID | None = None
) -> Sequence[Invitation]:
    """
    Return pending and expired invitations of a team, the latest first, after the id `after`.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    rows = Invitation.objects.filter(team=team_id, accepted_at=None, withdrawn_at=None)
    if after is not None:
        rows = rows.filter(pk__lt=after)
    return list(rows.select_related("team").order_by("-pk")[:limit])


def open_invitations_to(user_id: int, team_ids: Collection[UUID] | None = None) -> list[Invitation]:
    """Return the open invitations of teams, or all, to any address of a person, by id."""
    addresses = EmailAddress.objects.filter(user=user_id).values("email")
    rows = Invitation.objects.filter(email__in=addresses, accepted_at=None, withdrawn_at=None)
    if team_ids is not None:
        rows = rows.filter(team__in=team_ids)
    now = database_now()
    return [row for row in rows.order_by("pk") if state_of(row, now) is InvitationState.OPEN]


def team_of_invitation(actor: Actor, invitation_id: UUID) -> Team:
    """
    Return the team of an invitation, for its administrators.

    Raises:
        NotFound, Forbidden.
    """
    row = Invitation.objects.filter(pk=invitation_id).select_related("team").first()
    if row is None:
        raise NotFound()
    require(actor, row.team_id, Permission.ADMIN)
    return row.team


def open_invitation(token: str) -> Invitation:
    """
    Return the open invitation behind a link.

    Raises:
        NotFound: the link is unknown, or was replaced by a newer one.
        InvitationEnded.
    """
    row = Invitation.objects.filter(digest=digest_token(token)).select_related("team").first()
    if row is None:
        raise NotFound()
    check_is_open(state_of(row, database_now()))
    return row


def joined_team(actor: Actor, token: str) -> Team | None:
    """Return the team of a link that was accepted, if the actor is a member."""
    rows = Invitation.objects.filter(digest=digest_token(token), accepted_at__isnull=False)
    row = rows.select_related("team").first()
    is_member = row is not None and bool(permissions_in(actor, row.team_id))
    return row.team if row is not None and is_member else None


def state_of(row: Invitation, now: datetime) -> InvitationState:
    return invitation_state(
        accepted_at=row.accepted_at,
        withdrawn_at=row.withdrawn_at,
        expires_at=row.expires_at,
        now=now,
    )
