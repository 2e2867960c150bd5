"""Facts about the members of a team that administrators see: address, second factor, activity."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db.models import Max

from inbox.models import Membership
from inbox.queries.people.access import require
from inbox.rules.people.access import Actor, Permission

_FACTORS = (Authenticator.Type.WEBAUTHN, Authenticator.Type.TOTP)


@dataclass(frozen=True)
class MemberFacts:
    """Facts about one member, which other members do not see."""

    email: str  #: the primary address, "" if there is none
    has_passkey: bool
    has_totp: bool
    seen_at: datetime | None  #: None if they have never signed in


def member_facts(actor: Actor, team_id: UUID) -> Mapping[int, MemberFacts]:
    """
    Return the facts about the members of a team by the id of the user.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    memberships = Membership.objects.filter(team=team_id)
    users = memberships.values("user")
    # The last address of each in this order is the primary one, if there is one.
    addresses = EmailAddress.objects.filter(user__in=users).order_by("primary", "verified", "-pk")
    emails = dict(addresses.values_list("user", "email"))
    factors = set(
        Authenticator.objects.filter(user__in=users, type__in=_FACTORS).values_list("user", "type")
    )
    sessions = UserSession.objects.filter(user__in=users).order_by().values("user")
    seen = dict(sessions.annotate(at=Max("last_seen_at")).values_list("user", "at"))
    return {
        user: MemberFacts(
            email=emails.get(user, ""),
            has_passkey=(user, Authenticator.Type.WEBAUTHN) in factors,
            has_totp=(user, Authenticator.Type.TOTP) in factors,
            seen_at=max(filter(None, (seen.get(user), last_login)), default=None),
        )
        for user, last_login in memberships.values_list("user", "user__last_login")
    }
