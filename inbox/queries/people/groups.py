"""Groups of a team, and the groups of a member."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Prefetch

from inbox.models import Group, GroupMember
from inbox.models.statements import Select
from inbox.queries.people.access import require
from inbox.rules.people.access import Actor, Permission


def groups_page(
    actor: Actor, team_id: UUID, *, limit: int | None = None, after: str = ""
) -> Sequence[Group]:
    """
    Return the groups of a team with their members, by name, after the name `after`.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    members = GroupMember.objects.select_related("membership__user").order_by("membership__user")
    groups = Group.objects.filter(team=team_id, name__gt=after).order_by("name")
    return list(groups.prefetch_related(Prefetch("members", members))[:limit])


def group_names_of(team_id: UUID, user_id: int) -> tuple[str, ...]:
    """Return the names of the groups of the team that a user belongs to now."""
    return tuple(_GROUP_NAMES.all(team=team_id, user=user_id))


_GROUP_NAMES = Select(
    lambda params: (
        GroupMember.objects.filter(membership__team=params.team, membership__user=params.user)
        .order_by("group__name")
        .values_list("group__name", flat=True)
    )
)
