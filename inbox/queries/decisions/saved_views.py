"""Saved views of an actor: their own, and those of their teams."""

from collections.abc import Sequence

from inbox.models import SavedView
from inbox.models.statements import Select
from inbox.queries.people.access import teams_of
from inbox.rules.people.access import Actor, Permission

_LISTED = 50
_VIEWS = SavedView.objects.select_related("team", "user").order_by("name", "pk")
_OWN_VIEWS = Select(lambda params: _VIEWS.filter(user=params.user)[:_LISTED])
_TEAM_VIEWS = Select(
    lambda params: _VIEWS.filter(team__pk__in=params.each("teams")).exclude(user=params.user)[
        :_LISTED
    ]
)


def views_for(actor: Actor) -> Sequence[SavedView]:
    """Return the views by name, each with its team, its owner and `may_change`."""
    if actor.user_id is None:
        return []
    teams = teams_of(actor)
    # Separate limits, so that the views of a team do not push out the actor's own.
    rows = _OWN_VIEWS.all(user=actor.user_id)
    team_rows = _TEAM_VIEWS.all(user=actor.user_id, teams=teams) if teams else []
    rows = sorted([*rows, *team_rows], key=lambda row: (row.name, row.pk))
    admin_teams = teams_of(actor, Permission.ADMIN) if team_rows else []
    for row in rows:
        row.may_change = row.user_id == actor.user_id or row.team_id in admin_teams
    return rows
