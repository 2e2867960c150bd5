"""Sessions of members: administrators end them, and limits of teams shorten them."""

from uuid import UUID

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction

from inbox.actions.people.accounts import record_change
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Membership
from inbox.queries.people.access import is_installation_admin
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

_MAX_ID = 2**63 - 1


@transaction.atomic(durable=True)
def end_members_session(*, team_id: UUID, session_id: int, actor: Actor) -> None:
    """
    End a session of a member of the team; its pages and streams end within seconds.

    The audit trail of each team of the member has it.

    Raises:
        NotFound: also if the person of the session is no member.
        Forbidden.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    _end(
        _session(session_id, user__in=Membership.objects.filter(team=team_id).values("user")), actor
    )


@transaction.atomic(durable=True)
def end_any_session(*, session_id: int, actor: Actor) -> None:
    """
    End a session of anybody, as a superuser.

    Raises:
        Forbidden, NotFound.
    """
    if not is_installation_admin(actor):
        raise errors.Forbidden(TranslatableMessage("Only superusers can do this."))
    _end(_session(session_id), actor)


def _session(session_id: int, **of: object) -> UserSession:
    session: UserSession | None = UserSession.objects.filter(
        pk=min(session_id, _MAX_ID), **of
    ).first()
    if session is None:
        raise errors.NotFound()
    return session


def _end(session: UserSession, actor: Actor) -> None:
    Session.objects.filter(session_key=session.session_key).delete()
    session.delete()
    username = session.user.get_username()
    record_change(
        session.user_id, "session.ended", actor, username=username, address=session.ip, count=1
    )
