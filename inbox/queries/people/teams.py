"""Teams by name, and the one that is meant where nobody names it."""

from uuid import UUID

from inbox.models import Team
from inbox.queries.people.access import permissions_in, teams_of
from inbox.rules.errors import Forbidden, InvalidValue, NotFound
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.rules.text.messages import TranslatableMessage


def team_by_slug(slug: str) -> Team | None:
    return Team.objects.filter(slug=slug).first()


def team_for(actor: Actor, slug: str) -> Team:
    """
    A team that the actor knows of; what they may do there is for what they do to say.

    Raises:
        NotFound.
    """
    team = team_by_slug(slug)
    if team is None or not permissions_in(actor, team.pk):
        raise NotFound()
    return team


def team_to_change(actor: Actor, slug: str, *, if_several: TranslatableMessage) -> UUID:
    """
    The team of this slug, or the only one that the actor administers.

    Whether the actor may change it is for the action to say.

    Raises:
        NotFound: the actor does not know of the team.
        Forbidden: the actor administers none.
        InvalidValue: there are several, and `if_several` is the problem with the team.
    """
    if slug:
        return team_for(actor, slug).pk
    teams = teams_of(actor, Permission.ADMIN)
    if not teams:
        raise Forbidden(MISSING_PERMISSION[Permission.ADMIN])
    if len(teams) > 1:
        raise InvalidValue(if_several, problems={"team": [if_several]})
    return teams[0]
