"""The views that an actor has: their own, and those of their teams."""

from collections.abc import Sequence

from django.db.models import Q

from inbox.models import SavedView
from inbox.queries.people.access import teams_of
from inbox.rules.people.access import Actor, Permission

_LISTED = 50


def views_for(actor: Actor) -> Sequence[SavedView]:
    """By name, each with its team, its owner and whether the actor `may_change` it."""
    if actor.user_id is None:
        return []
    own = Q(user=actor.user_id)
    # Apart from each other: however many views a team has, nobody's own are lost among them.
    parts = (own, ~own & Q(team__in=teams_of(actor)))
    ordered = SavedView.objects.select_related("team", "user").order_by("name", "pk")
    rows = [row for part in parts for row in ordered.filter(part)[:_LISTED]]
    rows.sort(key=lambda row: (row.name, row.pk))
    foreign = any(row.user_id != actor.user_id for row in rows)
    administers = teams_of(actor, Permission.ADMIN) if foreign else []
    for row in rows:
        row.may_change = row.user_id == actor.user_id or row.team_id in administers  # type: ignore[attr-defined]
    return rows
