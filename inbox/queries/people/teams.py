"""Teams by slug, and the default team of an administrator."""

from uuid import UUID

from inbox.models import Team
from inbox.queries.people.access import permissions_in, teams_of
from inbox.rules.errors import Forbidden, InvalidValue, NotFound
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.rules.people.required_sign_in import RequiredSignIn
from inbox.rules.text.messages import TranslatableMessage


def team_by_slug(slug: str) -> Team | None:
    return Team.objects.filter(slug=slug).first()


def teams_without_requirement() -> list[str]:
    """Return the slugs of teams that any sign-in enters, also one by a password alone."""
    teams = Team.objects.filter(required_sign_in=RequiredSignIn.ANY).order_by("slug")
    return list(teams.values_list("slug", flat=True))


def team_for(actor: Actor, slug: str) -> Team:
    """
    Return a team in which the actor has any permission.

    Raises:
        NotFound.
    """
    team = team_by_slug(slug)
    if team is None or not permissions_in(actor, team.pk):
        raise NotFound()
    return team


def team_to_change(actor: Actor, slug: str, *, if_several: TranslatableMessage) -> UUID:
    """
    Return the team of this slug, or the only one that the actor administers.

    With a slug, the action has to check that the actor may change the team.

    Raises:
        NotFound: the actor may not see the team.
        Forbidden: the actor administers no team.
        InvalidValue: the actor administers several; `if_several` is the message.
    """
    if slug:
        return team_for(actor, slug).pk
    teams = teams_of(actor, Permission.ADMIN)
    if not teams:
        raise Forbidden(MISSING_PERMISSION[Permission.ADMIN])
    if len(teams) > 1:
        raise InvalidValue(if_several, problems={"team": [if_several]})
    return teams[0]
