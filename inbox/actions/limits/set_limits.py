"""Changing the limits of a team, by administrators of the installation."""

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import TeamLimits
from inbox.models.locks import lock_team
from inbox.platform.clock import database_now
from inbox.queries.limits.team_limits import limit_memory, require_limits_admin
from inbox.rules.limits.team_limits import Limit, check_limits
from inbox.rules.people.access import Actor


@transaction.atomic(durable=True)
def set_team_limits(*, team_id: UUID, limits: Mapping[Limit, int | None], actor: Actor) -> None:
    """
    Set limits of a team; None is the installation's default. The others stay as they are.

    What is beyond a lower limit goes on, and nothing new begins. Safe to replay: a limit that does
    not change writes no audit entry.

    Raises:
        Forbidden: the actor does not administer the installation.
        InvalidValue: with `problems` by name.
    """
    require_limits_admin(actor)
    check_limits(limits)
    lock_team(team_id)
    now = database_now()
    row, _ = TeamLimits.objects.get_or_create(team_id=team_id)
    for limit, most in limits.items():
        before = getattr(row, limit.value)
        if most != before:
            audit_trail.record(
                "team.limit_set",
                actor,
                now,
                team_id=team_id,
                limit=limit.value,
                before=before,
                value=most,
            )
            setattr(row, limit.value, most)
            row.save(update_fields=[limit.value])
    transaction.on_commit(limit_memory.clear)
