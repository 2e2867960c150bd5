"""A person's own account: sign-in methods and open sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession

from inbox.models import User
from inbox.queries.people.live_access import live_sessions
from inbox.rules.people.access import Actor
from inbox.rules.people.user_agent import browser_and_system


@dataclass(frozen=True)
class OpenSession:
    """A session in which the user is signed in."""

    id: int
    user: User
    browser: str  #: "" if unknown
    system: str  #: "" if unknown
    address: str
    began_at: datetime
    seen_at: datetime
    is_this: bool


@dataclass(frozen=True)
class Passkey:
    id: int
    name: str
    added_at: datetime
    used_at: datetime | None


@dataclass(frozen=True)
class Account:
    """A user's sign-in methods and sessions."""

    username: str
    name: str
    email: str  #: the primary address, "" if there is none
    email_is_confirmed: bool
    has_password: bool
    has_totp: bool
    codes_left: int | None  #: None without recovery codes
    passkeys: Sequence[Passkey]
    sessions: Sequence[OpenSession]


def account_of(actor: Actor) -> Account:
    """Return the account of a user who is signed in."""
    user: User = User.objects.get(pk=actor.ident)
    addresses = EmailAddress.objects.filter(user=user).order_by("-primary", "-verified", "pk")
    address = addresses.first()
    factors = list(Authenticator.objects.filter(user=user).order_by("pk"))
    by_type = {factor.type: factor for factor in factors}
    codes = by_type.get(Authenticator.Type.RECOVERY_CODES)
    return Account(
        username=user.username,
        name=user.get_full_name(),
        email=address.email if address else "",
        email_is_confirmed=bool(address and address.verified),
        has_password=user.has_usable_password(),
        has_totp=Authenticator.Type.TOTP in by_type,
        codes_left=len(codes.wrap().get_unused_codes()) if codes else None,
        passkeys=[
            Passkey(factor.pk, factor.wrap().name, factor.created_at, factor.last_used_at)
            for factor in factors
            if factor.type == Authenticator.Type.WEBAUTHN
        ],
        sessions=sessions_of(actor),
    )


def user_by_login(login: str) -> User | None:
    """Return the user with this username or verified email address."""
    user = User.objects.filter(username__iexact=login).first()
    if user is not None:
        return user
    address = EmailAddress.objects.filter(email=login, verified=True).first()
    return address.user if address else None


def member_without_password(team_id: UUID, username: str) -> User | None:
    """Return the member with this name who has never signed in and has no password yet."""
    user = User.objects.filter(
        username=username, memberships__team=team_id, last_login=None
    ).first()
    return user if user is not None and not user.has_usable_password() else None


def user_by_verified_email(email: str) -> User | None:
    """Return the active user who has verified this address."""
    address = EmailAddress.objects.filter(email=email, verified=True, user__is_active=True).first()
    return address.user if address else None


def sessions_of(actor: Actor) -> list[OpenSession]:
    """Return the actor's sessions: the current one first, then by last use."""
    rows = list(
        UserSession.objects.filter(user_id=actor.user_id)
        .select_related("user")
        .order_by("-last_seen_at")
    )
    live = live_sessions([row.session_key for row in rows])
    sessions = [open_session(row, actor) for row in rows if row.session_key in live]
    return sorted(sessions, key=lambda session: not session.is_this)


def open_session(row: UserSession, actor: Actor) -> OpenSession:
    """Return a session as the actor sees it; its user has been read."""
    return OpenSession(
        row.pk,
        row.user,
        *browser_and_system(row.user_agent),
        address=row.ip,
        began_at=row.created_at,
        seen_at=row.last_seen_at,
        is_this=row.session_key == actor.session_key,
    )
