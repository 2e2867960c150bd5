"""Saved views of an actor: their own, and those of their teams."""

from collections.abc import Sequence

from django.db.models import Q

from inbox.models import SavedView
from inbox.queries.people.access import teams_of
from inbox.rules.people.access import Actor, Permission

_LISTED = 50


def views_for(actor: Actor) -> Sequence[SavedView]:
    """Return the views by name, each with its team, its owner and `may_change`."""
    if actor.user_id is None:
        return []
    own = Q(user=actor.user_id)
    # Separate limits, so that the views of a team do not push out the actor's own.
    parts = (own, ~own & Q(team__in=teams_of(actor)))
    ordered = SavedView.objects.select_related("team", "user").order_by("name", "pk")
    rows = [row for part in parts for row in ordered.filter(part)[:_LISTED]]
    rows.sort(key=lambda row: (row.name, row.pk))
    has_team_views = any(row.user_id != actor.user_id for row in rows)
    admin_teams = teams_of(actor, Permission.ADMIN) if has_team_views else []
    for row in rows:
        row.may_change = row.user_id == actor.user_id or row.team_id in admin_teams
    return rows
