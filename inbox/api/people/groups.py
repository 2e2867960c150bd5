"""REST: groups of a team."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.people.groups import (
    add_to_group,
    create_group,
    delete_group,
    remove_from_group,
)
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import PersonName, Text, example
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.pagination import SLUG
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.people.groups import groups_page
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.people.access import Permission
from inbox.rules.people.groups import MAX_NAME_CHARACTERS, NAME

if TYPE_CHECKING:
    from inbox.models import Group as GroupRow

operation = partial(describe_operation, tag="teams", scope=Permission.READ)


class GroupInput(Schema):
    name: Annotated[str, Text(MAX_NAME_CHARACTERS, NAME), example("finance")]
    """As the slots of policies name the group; it cannot be changed."""


class GroupMember(Schema):
    id: int = source("membership.user_id")
    username: Annotated[str, example("ana")] = source("membership.user.username")
    name: PersonName = source("membership.user.display_name")


class Group(GroupInput):
    members: list[GroupMember]


class Groups(ApiView):
    @operation(
        "GET",
        "List the groups of a team",
        {200: Page[Group]},
        parameters=page_parameters(SLUG),
    )
    def list_groups(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = groups_page(
            actor,
            team_for(actor, team).pk,
            limit=pagination.one_more,
            after=pagination.after_name,
        )
        return pagination.page(rows, _represent, cursor=lambda row: row.name)

    @operation(
        "POST",
        "Create a group",
        {201: Group},
        scope=Permission.ADMIN,
        body=GroupInput,
        refusals=(errors.InvalidValue, errors.AddressTaken),
    )
    def create_group(self, request: Request, team: str) -> Response:
        actor = self.actor
        name = GroupInput.from_request(request).name
        group = create_group(team_id=team_for(actor, team).pk, name=name, actor=actor)
        return Response(_represent(group), status=201)

    @operation(
        "DELETE",
        "Delete a group",
        {204: None},
        scope=Permission.ADMIN,
        description="Slots of policies that name the group can then be filled by nobody.",
    )
    def delete_group(self, request: Request, team: str, group: str) -> Response:
        actor = self.actor
        delete_group(team_id=team_for(actor, team).pk, name=group, actor=actor)
        return Response(status=204)

    @operation("PUT", "Add a member to a group", {204: None}, scope=Permission.ADMIN)
    def add_to_group(self, request: Request, team: str, group: str, user: int) -> Response:
        actor = self.actor
        team_id = team_for(actor, team).pk
        add_to_group(team_id=team_id, name=group, user_id=user, actor=actor)
        return Response(status=204)

    @operation("DELETE", "Remove a member from a group", {204: None}, scope=Permission.ADMIN)
    def remove_from_group(self, request: Request, team: str, group: str, user: int) -> Response:
        actor = self.actor
        team_id = team_for(actor, team).pk
        remove_from_group(team_id=team_id, name=group, user_id=user, actor=actor)
        return Response(status=204)


def _represent(group: "GroupRow") -> dict[str, Any]:
    members = [GroupMember.represent(row) for row in group.members.all()]
    return Group.represent(group, members=members)
