"""People and groups of a directory, as it may see them: its own only."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from inbox.models import DirectoryGroup, DirectoryGroupMember, DirectoryUser
from inbox.rules.directories.directory_people import user_name_key
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor


@dataclass(frozen=True)
class Narrowing:
    """Values that every result of a search has; None: any."""

    id: str | None = None
    external_id: str | None = None
    user_name: str | None = None
    member: str | None = None  #: of a group


def people_of(actor: Actor, narrowing: Narrowing = Narrowing()) -> "QuerySet[DirectoryUser]":
    """Return the people of the directory that acts, by id."""
    rows = DirectoryUser.objects.filter(directory=actor.directory_id).order_by("pk")
    rows = _narrowed(rows, narrowing)
    if narrowing.user_name is not None:
        rows = rows.filter(user_name_key=user_name_key(narrowing.user_name))
    return rows


def groups_of(actor: Actor, narrowing: Narrowing = Narrowing()) -> "QuerySet[DirectoryGroup]":
    """Return the groups of the directory that acts, by id."""
    rows = DirectoryGroup.objects.filter(directory=actor.directory_id).order_by("pk")
    rows = _narrowed(rows, narrowing)
    if narrowing.member is not None:
        member = parse_id(narrowing.member)
        rows = rows.filter(members__person=member) if member else rows.none()
    return rows


def person_of(actor: Actor, person_id: str) -> DirectoryUser:
    """Return a person of the directory that acts. Raises NotFound."""
    row: DirectoryUser = _one(people_of(actor, Narrowing(id=person_id)))
    return row


def group_of(actor: Actor, group_id: str) -> DirectoryGroup:
    """Return a group of the directory that acts. Raises NotFound."""
    row: DirectoryGroup = _one(groups_of(actor, Narrowing(id=group_id)))
    return row


def groups_by_person(people: Collection[UUID]) -> Mapping[UUID, Sequence[tuple[UUID, str]]]:
    """Return the ids and names of the groups of people, by name."""
    rows = DirectoryGroupMember.objects.filter(person__in=people)
    columns = rows.order_by("group__display_name", "group").values_list(
        "person", "group", "group__display_name"
    )
    groups: dict[UUID, list[tuple[UUID, str]]] = {}
    for person, group, name in columns:
        groups.setdefault(person, []).append((group, name))
    return groups


def members_by_group(groups: Collection[UUID]) -> Mapping[UUID, Sequence[UUID]]:
    """Return the ids of the members of groups, by id."""
    rows = DirectoryGroupMember.objects.filter(group__in=groups).order_by("person")
    members: dict[UUID, list[UUID]] = {}
    for group, person in rows.values_list("group", "person"):
        members.setdefault(group, []).append(person)
    return members


def _narrowed(rows: "QuerySet[Any]", narrowing: Narrowing) -> "QuerySet[Any]":
    if narrowing.id is not None:
        row_id = parse_id(narrowing.id)
        rows = rows.filter(pk=row_id) if row_id else rows.none()
    if narrowing.external_id is not None:
        rows = rows.filter(external_id=narrowing.external_id)
    return rows


def _one(rows: "QuerySet[Any]") -> Any:
    row = rows.first()
    if row is None:
        raise NotFound()
    return row


def parse_id(text: str) -> UUID | None:
    """Return an id in its canonical form only, None for anything else."""
    try:
        value = UUID(text)
    except ValueError:
        return None
    return value if str(value) == text else None
