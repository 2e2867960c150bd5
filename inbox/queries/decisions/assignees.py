"""The people to whom a request can be assigned, or who can be mentioned."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from inbox.models import Comment, Interrupt, Membership, User
from inbox.queries.notifications.recipients import (
    may_decide,
    member_as_person,
    with_groups,
)
from inbox.queries.policies.quorum import current_quorum
from inbox.rules.decisions.teamwork.mentions import MAX_MENTIONS, mentioned_names
from inbox.rules.people.access import DECIDERS

if TYPE_CHECKING:
    from django.db.models import QuerySet


def possible_assignees(interrupt: Interrupt, now: datetime) -> Sequence[User]:
    """Return the active members of the team who may decide the request, by name."""
    return _by_name(_deciders(interrupt, now, _members(interrupt.team_id)))


def may_be_assigned(interrupt: Interrupt, user_id: int, now: datetime) -> bool:
    """Return whether a user may decide the request; the caller holds the team's lock."""
    return bool(_deciders(interrupt, now, _members(interrupt.team_id).filter(user=user_id)))


def people_to_mention(team_id: UUID) -> Sequence[User]:
    """Return the active members of a team, by name."""
    return _by_name(row.user for row in _members(team_id))


def mentioned_people(team_id: UUID, text: str) -> Sequence[User]:
    """Return the members of a team that a comment mentions."""
    return _named(team_id, mentioned_names(text))[:MAX_MENTIONS]


def people_in_comments(team_id: UUID, comments: Sequence[Comment]) -> dict[str, User]:
    """Return the members of a team that comments mention, by username."""
    names = {name for comment in comments for name in mentioned_names(comment.text)}
    return {user.get_username(): user for user in _named(team_id, names)}


def _deciders(interrupt: Interrupt, now: datetime, members: "QuerySet[Membership]") -> list[User]:
    """Return those of the members who may decide the request."""
    rows = with_groups(members.filter(role__in=DECIDERS))
    quorum = current_quorum(interrupt, now)
    return [row.user for row in rows if may_decide(quorum, member_as_person(row))]


def _by_name(people: Iterable[User]) -> list[User]:
    return sorted(people, key=lambda user: user.display_name.casefold())


def _named(team_id: UUID, names: Collection[str]) -> list[User]:
    if not names:
        return []
    return [row.user for row in _members(team_id).filter(user__username__in=names)]


def _members(team_id: UUID) -> "QuerySet[Membership]":
    rows = Membership.objects.filter(team=team_id, user__is_active=True)
    return rows.select_related("user").order_by("pk")
