"""Joining a team: by an invitation, or because an identity provider vouches for somebody."""

from datetime import datetime

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from inbox.actions.audit import audit_trail
from inbox.models import Invitation, Membership, Team, User
from inbox.models.clock import database_now
from inbox.models.locks import lock_team, lock_teams
from inbox.queries.people.api_key_tokens import digest_token
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.invitations import open_invitation, state_of
from inbox.rules import errors
from inbox.rules.people.access import Actor, ActorKind, Role
from inbox.rules.people.invitations import InvitationState, MailState, check_is_open
from inbox.rules.text.messages import TranslatableMessage

_GUARD = Actor(kind=ActorKind.SYSTEM, label="system:sign-in")
_LONGEST_NAME = 150


@transaction.atomic(durable=True)
def join_team(*, token: str, actor: Actor) -> Team:
    """
    Let a person who is signed in join the team that the link is for.

    Raises:
        NotFound: there is no such link.
        InvitationEnded.
        AlreadyMember: they keep their role, and the invitation stays open.
    """
    row, now = _locked(token)
    user: User = User.objects.get(pk=actor.ident)
    if Membership.objects.filter(team=row.team_id, user=user).exists():
        raise errors.AlreadyMember(TranslatableMessage("You are already a member of this team."))
    _admit(row, user, actor, now)
    return row.team


def join_with_new_account(*, token: str, username: str, full_name: str, password: str) -> User:
    """
    Make an account for whoever has the link, as a member of its team.

    The invited address is theirs and confirmed if the link was only ever in a mail to it: a link
    that was shown to whoever invites proves nothing.

    Raises:
        NotFound: there is no such link.
        InvitationEnded, UsernameTaken.
        EmailTaken: somebody has an account with this address, which is for them to sign in to.
    """
    open_invitation(token)
    username = User.normalize_username(username)
    # Slow on purpose, so not under the lock.
    hashed = make_password(password)
    try:
        return _join_as_new(token, username, full_name, hashed)
    except IntegrityError:
        # Somebody was faster with the same name or address: the second try says which.
        return _join_as_new(token, username, full_name, hashed)


@transaction.atomic(durable=True)
def _join_as_new(token: str, username: str, full_name: str, hashed: str) -> User:
    row, now = _locked(token)
    if User.objects.filter(username__iexact=username).exists():
        raise errors.UsernameTaken(TranslatableMessage("This name is taken. Choose another one."))
    by_mail = row.mail != MailState.NONE
    if by_mail and EmailAddress.objects.filter(email=row.email, verified=True).exists():
        raise errors.EmailTaken(
            TranslatableMessage("You already have an account with this address. Sign in to it.")
        )
    user = _make_account(username, hashed, full_name, row.email, verified=by_mail)
    _admit(row, user, actor_of_user(user), now)
    return user


@transaction.atomic(durable=True)
def join_by_provider(
    *, email: str, full_name: str, provider_id: str, team_slug: str, role: Role
) -> User | None:
    """
    Make an account for somebody whose address an identity provider vouches for.

    They come into the teams that have invited the address, and if there is none into the team
    named, which may be "" for nobody else; None without either.

    Raises:
        IntegrityError: the address or the name is somebody's already.
        NotFound: there is no such team.
    """
    invitations, now = _locked_for(email)
    if not invitations and not team_slug:
        return None
    # The address is theirs alone, which the part before the @ need not be.
    username = User.normalize_username(email[:_LONGEST_NAME])
    no_password = make_password(None)
    user = _make_account(username, no_password, full_name, email, verified=True)
    for row in invitations:
        _admit(row, user, actor_of_user(user), now)
    if not invitations:
        team = Team.objects.filter(slug=team_slug).first()
        if team is None:
            raise errors.NotFound()
        Membership.objects.create(team=team, user=user, role=role)
        audit_trail.record(
            action="member.added",
            actor=_GUARD,
            now=now,
            team_id=team.pk,
            username=user.username,
            role=role.value,
            by=f"oidc:{provider_id}",
        )
    return user


def _make_account(
    username: str, hashed: str, full_name: str, email: str, *, verified: bool
) -> User:
    """A person with their one address; raises IntegrityError if the name or it is somebody's."""
    first, _, last = " ".join(full_name.split())[:_LONGEST_NAME].partition(" ")
    user = User(username=username, password=hashed, first_name=first, last_name=last)
    user.save(force_insert=True)
    EmailAddress.objects.create(user=user, email=email, verified=verified, primary=True)
    return user


def _locked_for(email: str) -> tuple[list[Invitation], datetime]:
    """The open invitations of an address, under the locks of their teams."""
    found = Invitation.objects.filter(email=email, accepted_at=None, withdrawn_at=None)
    teams = sorted(found.values_list("team_id", flat=True))
    lock_teams(teams)
    now = database_now()
    rows = found.filter(team__in=teams).select_related("team").order_by("pk")
    return [row for row in rows if state_of(row, now) is InvitationState.OPEN], now


def _locked(token: str) -> tuple[Invitation, datetime]:
    """The open invitation behind a link, under the lock of its team."""
    found = Invitation.objects.filter(digest=digest_token(token)).first()
    if found is None:
        raise errors.NotFound()
    lock_team(found.team_id)
    # Read again: it may have another link by now.
    row = Invitation.objects.filter(pk=found.pk, digest=found.digest).select_related("team").first()
    if row is None:
        raise errors.NotFound()
    now = database_now()
    check_is_open(state_of(row, now))
    return row, now


def _admit(row: Invitation, user: User, actor: Actor, now: datetime) -> None:
    row.accepted_at = now
    row.save(update_fields=["accepted_at"])
    Membership.objects.create(team=row.team, user=user, role=row.role)
    for action, more in (
        ("invitation.accepted", {"invitation": str(row.pk), "email": row.email}),
        ("member.added", {}),
    ):
        audit_trail.record(
            action=action,
            actor=actor,
            now=now,
            team_id=row.team_id,
            username=user.get_username(),
            role=row.role,
            **more,
        )
