"""Groups of a directory: members get a role in a team, and lose it when they leave the group."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.directories.directories import lock_acting_directory, require_administrator
from inbox.actions.people.credentials import end_credentials
from inbox.actions.people.members import (
    add_membership,
    assign_role,
    check_can_leave,
    delete_membership,
)
from inbox.models import (
    Directory,
    DirectoryGroup,
    DirectoryGroupMember,
    DirectoryUser,
    Membership,
    User,
)
from inbox.models.locks import lock_credentials, lock_directory, lock_teams
from inbox.platform.clock import database_now
from inbox.queries.directories.directory_people import group_of, parse_id
from inbox.rules import errors
from inbox.rules.directories.directory_people import PeopleGroup, check_group, strongest_role
from inbox.rules.people.access import Actor, Role
from inbox.rules.text.messages import TranslatableMessage


class _Place(NamedTuple):
    """A person in a team."""

    team_id: UUID
    user_id: int


@transaction.atomic(durable=True)
def add_group(*, group: PeopleGroup, actor: Actor) -> DirectoryGroup:
    """
    Create a group, which gives nothing until a superuser chooses its team and role.

    Raises:
        Unauthenticated, NetworkNotAllowed.
        InvalidValue: also if a member is nobody of the directory.
    """
    check_group(group)
    directory, now = lock_acting_directory(actor)
    row = DirectoryGroup.objects.create(
        directory=directory,
        display_name=group.display_name,
        external_id=group.external_id,
        created_at=now,
        changed_at=now,
    )
    _add_members(row, _people(directory, group.members))
    return row


@transaction.atomic(durable=True)
def change_group(
    *,
    group_id: str,
    change: Callable[[DirectoryGroup], PeopleGroup],
    actor: Actor,
) -> DirectoryGroup:
    """
    Change a group to what `change` returns for the row as it is; called under the lock.

    All or nothing, and safe to replay.

    Raises:
        Unauthenticated, NetworkNotAllowed, NotFound, InvalidValue.
        LastAdmin: a team would have no active administrator.
    """
    directory, now = lock_acting_directory(actor)
    row: DirectoryGroup = group_of(actor, group_id)
    members = {str(pk): pk for pk in row.members.values_list("person", flat=True)}
    before = PeopleGroup(row.display_name, row.external_id, frozenset(members))
    group = change(row)
    if group == before:
        return row
    check_group(group)
    added = _people(directory, group.members - before.members)
    removed = list(
        DirectoryUser.objects.filter(
            pk__in=[members[key] for key in before.members - group.members]
        ).order_by("pk")
    )
    row.display_name, row.external_id = group.display_name, group.external_id
    row.changed_at = now
    row.save(update_fields=["display_name", "external_id", "changed_at"])
    _add_members(row, added)
    row.members.filter(person__in=removed).delete()
    _give_roles([*added, *removed], {row.team_id} - {None}, actor, row.display_name)
    return row


@transaction.atomic(durable=True)
def remove_group(*, group_id: str, check: Callable[[DirectoryGroup], object], actor: Actor) -> None:
    """
    Delete a group; its members lose what it gave them. `check` is called under the lock.

    Raises:
        Unauthenticated, NetworkNotAllowed, NotFound, LastAdmin.
    """
    lock_acting_directory(actor)
    row: DirectoryGroup = group_of(actor, group_id)
    check(row)
    people = _members_of(row)
    team_id, name = row.team_id, row.display_name
    row.delete()
    _give_roles(people, {team_id} - {None}, actor, name)


@transaction.atomic(durable=True)
def map_group(*, group_id: UUID, team_id: UUID | None, role: Role | None, actor: Actor) -> None:
    """
    Choose the team and the role that a group gives its members; None for both: nothing.

    Members lose what the group gave before. Safe to replay.

    Raises:
        Forbidden, ReauthenticationRequired, NotFound, LastAdmin.
        InvalidValue: a team without a role, or a role without a team.
    """
    group = DirectoryGroup.objects.filter(pk=group_id).first()
    if group is not None:
        lock_directory(group.directory_id)
        group = DirectoryGroup.objects.filter(pk=group_id).first()
    now = database_now()
    require_administrator(actor, now)
    if group is None:
        raise errors.NotFound()
    if (team_id is None) is not (role is None):
        text = TranslatableMessage("Choose a team and a role, or neither.")
        raise errors.InvalidValue(text, problems={"team": [text]})
    before = _Gift(group.team_id, group.role)
    after = _Gift(team_id, role.value if role else "")
    if before == after:
        return
    teams = {before.team_id, after.team_id} - {None}
    group.team_id, group.role = after
    group.save(update_fields=["team", "role"])
    _give_roles(
        _members_of(group),
        teams,
        actor,
        group.display_name,
        mapped=_Mapping(group, before, after, now),
    )


class _Gift(NamedTuple):
    """The team and the role that a group gives its members; None and "": nothing."""

    team_id: UUID | None
    role: str


class _Mapping(NamedTuple):
    """A change of the team and role of a group."""

    group: DirectoryGroup
    before: _Gift
    after: _Gift
    at: datetime

    def record(self, actor: Actor) -> None:
        for gift, action in ((self.before, "unmapped"), (self.after, "mapped")):
            if gift.team_id is not None:
                audit_trail.record(
                    f"directory.group_{action}",
                    actor,
                    self.at,
                    team_id=gift.team_id,
                    directory=self.group.directory.name,
                    group=self.group.display_name,
                    role=gift.role,
                )


def _people(directory: Directory, member_ids: Collection[str]) -> list[DirectoryUser]:
    """Return people of the directory. Raises InvalidValue unless each id is of one."""
    # In other spellings, somebody who is a member already would be added again.
    ids = {text: parse_id(text) for text in member_ids}
    people = list(directory.people.filter(pk__in=filter(None, ids.values())).order_by("pk"))
    missing = ids.keys() - {str(person.pk) for person in people}
    if missing:
        raise _unknown(min(missing))
    return people


def _unknown(member_id: str) -> errors.InvalidValue:
    text = TranslatableMessage(
        "{member} is no user of this directory. Groups cannot have groups as members.",
        member=repr(member_id[:64]),
    )
    return errors.InvalidValue(text, problems={"members": [text]})


def _members_of(group: DirectoryGroup) -> list[DirectoryUser]:
    return list(DirectoryUser.objects.filter(groups__group=group).order_by("pk"))


def _add_members(group: DirectoryGroup, people: Iterable[DirectoryUser]) -> None:
    DirectoryGroupMember.objects.bulk_create(
        DirectoryGroupMember(group=group, person=person) for person in people
    )


def _give_roles(
    people: Collection[DirectoryUser],
    team_ids: "Collection[UUID | None]",
    actor: Actor,
    group_name: str,
    mapped: _Mapping | None = None,
) -> None:
    """
    Give people in these teams the strongest role of their groups, or remove them.

    Superusers are left out. New administrators come first, so that they can replace the last one.
    """
    teams = [team_id for team_id in team_ids if team_id is not None]
    if not teams:
        return
    user_ids = [person.user_id for person in people]
    lock_credentials(user_ids)
    lock_teams(teams)
    if mapped is not None:
        mapped.record(actor)
    users = {user.pk: user for user in User.objects.filter(pk__in=user_ids, is_superuser=False)}
    memberships = {
        _Place(row.team_id, row.user_id): row
        for row in Membership.objects.filter(team__in=teams, user__in=users).select_related("user")
    }
    roles = _roles(users, teams)
    places = [_Place(team_id, user_id) for team_id in sorted(teams) for user_id in sorted(users)]
    # Roles first, then those who leave.
    for place in sorted(places, key=lambda place: _rank(roles.get(place))):
        row, role = memberships.get(place), roles.get(place)
        if row is None and role is not None:
            add_membership(
                place.team_id, users[place.user_id], role, actor, directory_group=group_name
            )
        elif row is not None and role is None:
            _remove(row, actor, group_name)
        elif row is not None and role is not None and row.role != role:
            assign_role(row, role, actor, directory_group=group_name)


def _roles(users: Collection[int], teams: Collection[UUID]) -> dict[_Place, Role]:
    """Return the strongest role of people in teams by their groups of any directory."""
    rows = DirectoryGroupMember.objects.filter(person__user__in=users, group__team__in=teams)
    role_names: dict[_Place, set[str]] = {}
    for team_id, user_id, name in rows.values_list("group__team", "person__user", "group__role"):
        role_names.setdefault(_Place(team_id, user_id), set()).add(name)
    return {place: role for place, names in role_names.items() if (role := strongest_role(names))}


def _rank(role: Role | None) -> int:
    order = (Role.ADMIN, Role.REVIEWER, Role.VIEWER, None)
    return order.index(role)


def _remove(row: Membership, actor: Actor, group_name: str) -> None:
    check_can_leave(row)
    team_id, user_id = row.team_id, row.user_id
    delete_membership(row, "member.removed", actor, directory_group=group_name)
    end_credentials(user_id=user_id, team_ids=[team_id], actor=actor, now=database_now())
