"""The open sessions of a team's members, for its administrators."""

from collections.abc import Sequence
from uuid import UUID

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session

from inbox.models import Membership
from inbox.platform import clock
from inbox.queries.people.access import require
from inbox.queries.people.accounts import OpenSession, open_session
from inbox.rules.people.access import Actor, Permission


def member_sessions(
    actor: Actor, team_id: UUID, *, limit: int, after: int = 0
) -> Sequence[OpenSession]:
    """
    Return up to `limit` open sessions of the team's members, by id, after the id `after`.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    live = Session.objects.filter(expire_date__gt=clock.now()).values("session_key")
    members = Membership.objects.filter(team=team_id).values("user")
    rows = UserSession.objects.filter(pk__gt=after, user__in=members, session_key__in=live)
    return [open_session(row, actor) for row in rows.select_related("user").order_by("pk")[:limit]]
