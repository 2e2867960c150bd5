"""The names that rules can refer to: called tools, agents and environments of a team."""

from uuid import UUID

from django.db import connection
from django.db.models import UUIDField

from inbox.models import Agent, Membership
from inbox.queries.notifications.recipients import member_as_person, with_groups
from inbox.rules.people.access import DECIDERS
from inbox.rules.policies.implication import KnownNames

#: Teams with more tools get no warnings about unknown ones.
_MAX_TOOLS = 200
#: Reads one index entry for each name, not one for each call.
_TOOLS = """
WITH RECURSIVE tools(name) AS (
  SELECT (SELECT MIN(name) FROM inbox_toolcall WHERE team_id = %(team)s)
  UNION ALL
  SELECT (SELECT MIN(calls.name) FROM inbox_toolcall calls
          WHERE calls.team_id = %(team)s AND calls.name > tools.name)
  FROM tools WHERE tools.name IS NOT NULL
)
SELECT name FROM tools WHERE name IS NOT NULL LIMIT %(most)s
"""


def known_names(team_id: UUID) -> KnownNames:
    """Return the names and the people of a team with four queries."""
    agents = Agent.objects.filter(team=team_id).values_list("slug", "environment")
    slugs, environments = zip(*agents, strict=True) if agents else ((), ())
    members = Membership.objects.filter(team=team_id, user__is_active=True, role__in=DECIDERS)
    return KnownNames(
        _called_tools(team_id),
        frozenset(slugs),
        frozenset(environments) - {""},
        people=[member_as_person(member) for member in with_groups(members)],
    )


def _called_tools(team_id: UUID) -> frozenset[str] | None:
    """Return the tools that agents have called, None if there are too many."""
    team = UUIDField().get_db_prep_value(team_id, connection)
    with connection.cursor() as cursor:
        cursor.execute(_TOOLS, {"team": team, "most": _MAX_TOOLS + 1})
        names = [name for (name,) in cursor.fetchall()]
    return frozenset(names) if len(names) <= _MAX_TOOLS else None
