"""Grants of a team, with masked values."""

from typing import Any
from uuid import UUID

from inbox.models import Grant
from inbox.queries.people.access import require
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.grants import Bound, Limit
from inbox.rules.schema.mask_agui import secrets_of_arguments

_GRANTS = Grant.objects.select_related("agent", "made_from", "made_by")


def grants_of_team(
    actor: Actor,
    team_id: UUID,
    *,
    limit: int,
    before: UUID | None = None,
    is_active: bool | None = None,
) -> list[Grant]:
    """
    Return grants of a team, the latest first, before the one with this id; None for both states.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    rows = _GRANTS.filter(team=team_id).order_by("-pk")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    if is_active is not None:
        rows = rows.filter(ended_at__isnull=is_active)
    return list(rows[:limit])


def grant_for(actor: Actor, grant_id: UUID, permission: Permission = Permission.READ) -> Grant:
    """
    Return a grant.

    Raises:
        NotFound, Forbidden.
    """
    row = _GRANTS.filter(pk=grant_id).first()
    if row is None:
        raise NotFound()
    require(actor, row.team_id, permission, row.agent_id)
    return row


def masked_limits(row: Grant) -> dict[str, Limit]:
    """Return the limits of a grant by argument; secret values are masked."""
    limits = row.state.terms.limits
    values = {name: limit.value for name, limit in limits.items()}
    masked = secrets_of_arguments(row.made_from.body).masked(values)
    return {
        name: limit if limit.bound is Bound.ANY else Limit(limit.bound, masked[name])
        for name, limit in limits.items()
    }


def limits_as_choices(row: Grant) -> dict[str, Any]:
    """Return the limits as a request for a grant has them, with the approved values of `same`."""
    return {
        name: {limit.bound.value: limit.value} if limit.bound is not Bound.ANY else "any"
        for name, limit in masked_limits(row).items()
    }
