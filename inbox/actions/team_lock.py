"""Locking a team for an administrator."""

from uuid import UUID

from inbox.models import Team
from inbox.models.locks import lock_team
from inbox.queries.people.access import require
from inbox.rules.people.access import Actor, Permission


def lock_permitted_team(team_id: UUID, actor: Actor, permission: Permission) -> Team:
    """
    Lock a team, and check that the actor has the permission.

    Checked under the lock as well: an administrator may have removed them while they waited.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, permission)
    team = lock_team(team_id)
    require(actor, team_id, permission)
    return team
