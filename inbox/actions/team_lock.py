"""Locking a team for an administrator."""

from uuid import UUID

from inbox.models import Team
from inbox.models.locks import lock_team
from inbox.platform.clock import database_now
from inbox.queries.people.access import require, require_current, require_fresh_sign_in
from inbox.rules.people.access import Actor, Permission


def lock_permitted_team(
    team_id: UUID, actor: Actor, permission: Permission, *, fresh_sign_in: bool = False
) -> Team:
    """
    Lock a team, and check that the actor has the permission.

    Checked under the lock as well: an administrator may have removed them, revoked their key or
    ended their session while they waited.

    With `fresh_sign_in` a session must have one.

    Raises:
        Unauthenticated, NotFound, Forbidden, ReauthenticationRequired.
    """
    require(actor, team_id, permission)
    team, now = lock_team(team_id), database_now()
    require_current(actor, team_id, permission, now=now)
    if fresh_sign_in:
        require_fresh_sign_in(actor, now)
    return team
