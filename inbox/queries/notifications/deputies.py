"""Deputies of people who are away: who they are, and how they are told."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from inbox.models import Membership, NotificationSchedule, User
from inbox.queries.notifications.recipients import member_as_person, with_groups
from inbox.rules.notifications.away import Absence
from inbox.rules.notifications.schedule import Schedule
from inbox.rules.people.access import DECIDERS
from inbox.rules.policies.slots import Person


@dataclass(frozen=True)
class Deputies:
    """The absences of people, and their deputies as members of teams, by team and user id."""

    absences: dict[int, Absence]
    members: dict[tuple[UUID, int], Person]
    schedules: dict[int, Schedule]  #: of deputies

    def in_team(self, team_id: UUID) -> list[Person]:
        return [person for (team, _), person in self.members.items() if team == team_id]


def load_deputies(user_ids: Iterable[int], team_ids: Collection[UUID], now: datetime) -> Deputies:
    """Return the deputies of those of the people who are away now."""
    away = NotificationSchedule.objects.filter(away_until__gt=now)
    rows = list(away.filter(user__in=set(user_ids)))
    if not rows:
        return Deputies({}, {}, {})
    deputy_ids = {row.deputy_id for row in rows if row.deputy_id}
    of_deputies = list(NotificationSchedule.objects.filter(user__in=deputy_ids))
    members = Membership.objects.filter(
        team__in=team_ids, user__in=deputy_ids, user__is_active=True, role__in=DECIDERS
    )
    return Deputies(
        {
            row.user_id: Absence(row.away_until, row.deputy_id)
            for row in (*rows, *of_deputies)
            if row.away_until
        },
        {
            (member.team_id, member.user_id): member_as_person(member)
            for member in with_groups(members)
        },
        {row.user_id: row.schedule for row in of_deputies},
    )


def is_deputy_of(deputy_id: int, user_id: int, now: datetime) -> bool:
    """Return whether a person is told instead of another one, who is away now."""
    return NotificationSchedule.objects.filter(
        user=user_id, deputy=deputy_id, away_until__gt=now
    ).exists()


def decider_in(team_id: UUID, user_id: int) -> Person | None:
    """Return a member of a team who may decide there; None for others."""
    members = Membership.objects.filter(
        team=team_id, user=user_id, user__is_active=True, role__in=DECIDERS
    )
    return next(map(member_as_person, with_groups(members)), None)


def possible_deputies(user_id: int) -> list[User]:
    """Return the colleagues who may decide in a team in which the person may, by name."""
    own = Membership.objects.filter(user=user_id, role__in=DECIDERS)
    colleagues = Membership.objects.filter(team__in=own.values("team"), role__in=DECIDERS)
    people = User.objects.filter(pk__in=colleagues.values("user"), is_active=True)
    return sorted(people.exclude(pk=user_id), key=lambda user: (user.display_name, user.pk))


def absence_of(user_id: int, now: datetime) -> NotificationSchedule | None:
    """Return the schedule of a person who is away now, with the deputy."""
    rows = NotificationSchedule.objects.filter(user=user_id, away_until__gt=now)
    return rows.select_related("deputy").first()


def represented_by(user_id: int, now: datetime) -> list[User]:
    """Return the people whose deputy the person is now, by name."""
    away = NotificationSchedule.objects.filter(deputy=user_id, away_until__gt=now)
    people = User.objects.filter(pk__in=away.values("user"))
    return sorted(people, key=lambda user: (user.display_name, user.pk))
