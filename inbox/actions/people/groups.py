"""Groups of a team's members."""

from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Group, GroupMember, Membership
from inbox.platform.clock import database_now
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.people.groups import MAX_GROUPS, check_group_name
from inbox.rules.text.messages import TranslatableMessage

_MAX_ID = 2**63 - 1


@transaction.atomic(durable=True)
def create_group(*, team_id: UUID, name: str, actor: Actor) -> Group:
    """
    Create an empty group.

    Raises:
        NotFound, Forbidden, InvalidValue.
        AddressTaken: the team has a group of this name.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    check_group_name(name)
    groups = Group.objects.filter(team=team_id)
    if groups.filter(name=name).exists():
        raise errors.AddressTaken(
            TranslatableMessage("The team already has a group {name}.", name=name)
        )
    if groups.count() >= MAX_GROUPS:
        raise errors.InvalidValue(
            TranslatableMessage("A team can have at most {most} groups.", most=MAX_GROUPS)
        )
    group = Group.objects.create(team_id=team_id, name=name)
    _record(group, actor, change="created")
    return group


@transaction.atomic(durable=True)
def delete_group(*, team_id: UUID, name: str, actor: Actor) -> None:
    """
    Delete a group. Requests that require one of it cannot be approved by its members any more.

    Raises:
        NotFound, Forbidden.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    group = _group(team_id, name)
    _record(group, actor, change="deleted")
    group.delete()


@transaction.atomic(durable=True)
def add_to_group(*, team_id: UUID, name: str, user_id: int, actor: Actor) -> None:
    """
    Add a member of the team to a group. Safe to replay.

    Raises:
        NotFound: there is no such group, or the user is not a member of the team.
        Forbidden.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    group, membership = _group(team_id, name), _membership(team_id, user_id)
    _, is_new = GroupMember.objects.get_or_create(group=group, membership=membership)
    if is_new:
        _record(group, actor, change="added", username=membership.user.get_username())


@transaction.atomic(durable=True)
def remove_from_group(*, team_id: UUID, name: str, user_id: int, actor: Actor) -> None:
    """
    Remove a member of the team from a group. Safe to replay.

    Raises:
        NotFound: there is no such group, or the user is not a member of the team.
        Forbidden.
    """
    lock_permitted_team(team_id, actor, Permission.ADMIN)
    group, membership = _group(team_id, name), _membership(team_id, user_id)
    count, _ = GroupMember.objects.filter(group=group, membership=membership).delete()
    if count:
        _record(group, actor, change="removed", username=membership.user.get_username())


def _group(team_id: UUID, name: str) -> Group:
    group = Group.objects.filter(team=team_id, name=name).first()
    if group is None:
        raise errors.NotFound()
    return group


def _membership(team_id: UUID, user_id: int) -> Membership:
    if user_id > _MAX_ID:  # no database takes it for a number
        raise errors.NotFound()
    row = Membership.objects.filter(team=team_id, user=user_id).select_related("user").first()
    if row is None:
        raise errors.NotFound()
    return row


def _record(group: Group, actor: Actor, **detail: str) -> None:
    audit_trail.record(
        "group.changed", actor, database_now(), team_id=group.team_id, group=group.name, **detail
    )
