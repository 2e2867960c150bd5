"""The people to whom a request can be assigned, or who can be mentioned."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from inbox.models import Comment, Interrupt, Membership, User
from inbox.queries.notifications.recipients import (
    DECIDERS,
    may_decide,
    member_as_person,
    with_groups,
)
from inbox.queries.policies.quorum import current_quorum
from inbox.rules.decisions.teamwork.mentions import MAX_MENTIONS, mentioned_names

if TYPE_CHECKING:
    from django.db.models import QuerySet


def possible_assignees(interrupt: Interrupt, now: datetime) -> Sequence[User]:
    """Return the active members of the team who may decide the request, by name."""
    members = _members(interrupt.team_id).filter(role__in=DECIDERS)
    quorum = current_quorum(interrupt, now)
    people = [row.user for row in with_groups(members) if may_decide(quorum, member_as_person(row))]
    return sorted(people, key=lambda user: user.display_name.casefold())


def may_be_assigned(interrupt: Interrupt, user_id: int, now: datetime) -> bool:
    """Return whether a user may decide the request; the caller holds the team's lock."""
    members = with_groups(_members(interrupt.team_id).filter(role__in=DECIDERS, user=user_id))
    quorum = current_quorum(interrupt, now)
    return any(may_decide(quorum, member_as_person(row)) for row in members)


def people_to_mention(team_id: UUID) -> Sequence[User]:
    """Return the active members of a team, by name."""
    people = [row.user for row in _members(team_id)]
    return sorted(people, key=lambda user: user.display_name.casefold())


def mentioned_people(team_id: UUID, text: str) -> Sequence[User]:
    """Return the members of a team that a comment mentions."""
    return _named(team_id, mentioned_names(text))[:MAX_MENTIONS]


def people_in_comments(team_id: UUID, comments: Sequence[Comment]) -> dict[str, User]:
    """Return the members of a team that comments mention, by username."""
    names = {name for comment in comments for name in mentioned_names(comment.text)}
    return {user.get_username(): user for user in _named(team_id, names)}


def _named(team_id: UUID, names: Collection[str]) -> list[User]:
    if not names:
        return []
    return [row.user for row in _members(team_id).filter(user__username__in=names)]


def _members(team_id: UUID) -> "QuerySet[Membership]":
    rows = Membership.objects.filter(team=team_id, user__is_active=True)
    return rows.select_related("user").order_by("pk")
