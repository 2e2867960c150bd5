"""Joining a team by an invitation, or by an identity provider."""

from datetime import datetime

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.conflicts import retry_on_conflict
from inbox.actions.people.members import add_membership
from inbox.models import Invitation, Membership, Team, User
from inbox.models.locks import lock_team, lock_teams
from inbox.platform.clock import database_now
from inbox.queries.people.api_key_tokens import digest_token
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.invitations import open_invitation, state_of
from inbox.queries.people.members import names_in_teams
from inbox.rules import errors
from inbox.rules.people.access import SIGN_IN, Actor, Role
from inbox.rules.people.invitations import InvitationState, MailState, check_is_open
from inbox.rules.people.person_names import check_person_name, is_valid_name
from inbox.rules.text.messages import TranslatableMessage

_MAX_NAME_CHARACTERS = 150


@transaction.atomic(durable=True)
def join_team(*, token: str, actor: Actor) -> Team:
    """
    Add the signed-in person to the team of an invitation link.

    Raises:
        NotFound: there is no such link.
        InvitationEnded.
        AlreadyMember: the role is unchanged, and the invitation stays open.
    """
    row, now = _lock_invitation(token)
    user: User = User.objects.get(pk=actor.ident)
    if Membership.objects.filter(team=row.team_id, user=user).exists():
        raise errors.AlreadyMember(TranslatableMessage("You are already a member of this team."))
    _accept(row, user, actor, now)
    return row.team


def join_with_new_account(*, token: str, username: str, full_name: str, password: str) -> User:
    """
    Create an account for the holder of an invitation link, as a member of its team.

    The invited address is verified only if the link was sent by mail: a link that was shown to the
    inviter does not prove who owns the address.

    Raises:
        NotFound: there is no such link.
        InvitationEnded, UsernameTaken.
        InvalidValue: the name or the user name looks like that of a member, or is deceptive.
        EmailTaken: there is an account with this address.
    """
    open_invitation(token)
    # Hashing is slow; do it before taking the lock.
    hashed = make_password(password)
    return _join_as_new(token, User.normalize_username(username), full_name, hashed)


@retry_on_conflict
@transaction.atomic(durable=True)
def _join_as_new(token: str, username: str, full_name: str, hashed: str) -> User:
    row, now = _lock_invitation(token)
    if User.objects.filter(username__iexact=username).exists():
        raise errors.UsernameTaken(TranslatableMessage("This name is taken. Choose another one."))
    by_mail = row.mail != MailState.NONE
    if by_mail and EmailAddress.objects.filter(email=row.email, verified=True).exists():
        raise errors.EmailTaken(
            TranslatableMessage("You already have an account with this address. Sign in to it.")
        )
    others = names_in_teams([row.team_id])
    check_person_name(" ".join(full_name.split()), others)
    check_person_name(username, others, field="username")
    user = _make_account(username, hashed, full_name, row.email, verified=by_mail)
    _accept(row, user, actor_of_user(user), now)
    return user


@transaction.atomic(durable=True)
def join_by_provider(
    *, email: str, full_name: str, provider_id: str, team_slug: str, role: Role
) -> User | None:
    """
    Create an account for a person whose address an identity provider has verified.

    The person joins the teams that have invited the address, or else the team of `team_slug`.
    Return None if there is no invitation and `team_slug` is "".

    Raises:
        IntegrityError: the address or the name is taken.
        NotFound: there is no such team.
    """
    invitations, now = _lock_invitations_of(email)
    if not invitations and not team_slug:
        return None
    # The whole address, because the part before the @ need not be unique.
    username = User.normalize_username(email[:_MAX_NAME_CHARACTERS])
    no_password = make_password(None)
    others = names_in_teams([row.team_id for row in invitations])
    if not is_valid_name(" ".join(full_name.split()), others):
        full_name = ""  # the person is shown by their address
    user = _make_account(username, no_password, full_name, email, verified=True)
    for row in invitations:
        _accept(row, user, actor_of_user(user), now)
    if not invitations:
        team = Team.objects.filter(slug=team_slug).first()
        if team is None:
            raise errors.NotFound()
        add_membership(team.pk, user, role, SIGN_IN, by=f"oidc:{provider_id}")
    return user


def _make_account(
    username: str, hashed: str, full_name: str, email: str, *, verified: bool
) -> User:
    """Create a person with one address; raises IntegrityError if either is taken."""
    first, _, last = " ".join(full_name.split())[:_MAX_NAME_CHARACTERS].partition(" ")
    user = User(username=username, password=hashed, first_name=first, last_name=last)
    user.save(force_insert=True)
    EmailAddress.objects.create(user=user, email=email, verified=verified, primary=True)
    return user


def _lock_invitations_of(email: str) -> tuple[list[Invitation], datetime]:
    """Lock the teams that have invited an address, and return the open invitations."""
    invitations = Invitation.objects.filter(email=email, accepted_at=None, withdrawn_at=None)
    teams = sorted(invitations.values_list("team_id", flat=True))
    lock_teams(teams)
    now = database_now()
    rows = invitations.filter(team__in=teams).select_related("team").order_by("pk")
    return [row for row in rows if state_of(row, now) is InvitationState.OPEN], now


def _lock_invitation(token: str) -> tuple[Invitation, datetime]:
    """Lock the team of an invitation link, and return the open invitation."""
    invitation = Invitation.objects.filter(digest=digest_token(token)).first()
    if invitation is None:
        raise errors.NotFound()
    lock_team(invitation.team_id)
    # Re-read under the lock: the invitation may have a new link.
    row = (
        Invitation.objects.filter(pk=invitation.pk, digest=invitation.digest)
        .select_related("team")
        .first()
    )
    if row is None:
        raise errors.NotFound()
    now = database_now()
    check_is_open(state_of(row, now))
    return row, now


def _accept(row: Invitation, user: User, actor: Actor, now: datetime) -> None:
    row.accepted_at = now
    row.save(update_fields=["accepted_at"])
    audit_trail.record(
        "invitation.accepted",
        actor,
        now,
        team_id=row.team_id,
        username=user.get_username(),
        role=row.role,
        invitation=str(row.pk),
        email=row.email,
    )
    add_membership(row.team_id, user, row.role, actor)
