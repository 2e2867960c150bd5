"""REST about teams and who belongs to them."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox.actions.people.members import (
    change_role,
    change_team,
    make_team,
    remove_member,
)
from inbox.api.base.base_view import Caller
from inbox.api.base.fields import (
    Flag,
    Line,
    Text,
    Whole,
)
from inbox.api.base.openapi_descriptions import operation, page_parameters
from inbox.api.base.pagination import NUMBER_CURSOR, SLUG, Window
from inbox.api.base.request_models import checked
from inbox.api.base.response_models import Member, Page, Team
from inbox.queries.people import members
from inbox.queries.people.teams import team_for
from inbox.rules.decisions.collaboration import (
    LONGEST_EXPIRY_HOURS,
    LONGEST_GRACE_SECONDS,
    MOST_EXECUTION_HOURS,
)
from inbox.rules.errors import (
    AddressTaken,
    InvalidValue,
    LastAdmin,
    MoreThanOwn,
    NotFound,
)
from inbox.rules.people.access import Permission, Role
from inbox.rules.people.team_settings import SETTINGS
from inbox.rules.people.teams import LONGEST_NAME, LONGEST_SLUG
from inbox.rules.people.teams import SLUG as TEAM_SLUG


class TeamInput(serializers.Serializer[Any]):
    """The body of POST /api/teams."""

    slug = Text(TEAM_SLUG, max_length=LONGEST_SLUG)
    name = Line(max_length=LONGEST_NAME)


class TeamChange(serializers.Serializer[Any]):
    """The body of PATCH /api/teams/<slug>; what is left out stays."""

    name = Line(required=False, max_length=LONGEST_NAME)
    grace_seconds = Whole(required=False, min_value=0, max_value=LONGEST_GRACE_SECONDS)
    request_expiry_hours = Whole(required=False, min_value=0, max_value=LONGEST_EXPIRY_HOURS)
    execute_within_hours = Whole(required=False, min_value=1, max_value=MOST_EXECUTION_HOURS)
    requires_view_digest = Flag(required=False)
    inbox_only = Flag(required=False)
    names_deciders = Flag(required=False)
    headings = serializers.DictField(child=Text(), required=False)


class MemberChange(serializers.Serializer[Any]):
    """The body of PATCH /api/teams/<slug>/members/<id>."""

    role = serializers.ChoiceField([role.value for role in Role])


class Teams(Caller, APIView):
    @operation(
        "listTeams",
        "List one's teams",
        tag="teams",
        scope=Permission.READ,
        answers={200: Page[Team]},
        parameters=page_parameters(SLUG),
    )
    def get(self, request: Request) -> Response:
        actor, window = self.actor(request), Window.of(request.query_params)
        rows = members.teams_with_access_page(actor, limit=window.one_more, after=window.after_name)
        return window.page(rows, team_json, lambda row: row.team.slug)

    @operation(
        "makeTeam",
        "Make a team",
        tag="teams",
        scope=Permission.ADMIN,
        answers={201: Team},
        takes=TeamInput,
        refuses=(InvalidValue, AddressTaken),
        only_people=True,
        more="For superusers; whoever makes a team is its first administrator.",
    )
    def post(self, request: Request) -> Response:
        actor = self.actor(request)
        team = make_team(actor=actor, **checked(TeamInput, request))
        return Response(team_json(members.team_access(actor, team.slug)), status=201)


class TeamDetail(Caller, APIView):
    @operation(
        "getTeam",
        "Read one team",
        tag="teams",
        scope=Permission.READ,
        answers={200: Team},
        refuses=(NotFound,),
    )
    def get(self, request: Request, team: str) -> Response:
        return Response(team_json(members.team_access(self.actor(request), team)))

    @operation(
        "changeTeam",
        "Change the name of a team, or how long complete answers wait",
        tag="teams",
        scope=Permission.ADMIN,
        answers={204: None},
        takes=TeamChange,
        refuses=(InvalidValue, NotFound),
    )
    def patch(self, request: Request, team: str) -> Response:
        actor = self.actor(request)
        given = checked(TeamChange, request)
        change_team(team_id=team_for(actor, team).pk, actor=actor, **given)
        return Response(status=204)


class TeamMembers(Caller, APIView):
    @operation(
        "listMembers",
        "List who belongs to a team",
        tag="teams",
        scope=Permission.READ,
        answers={200: Page[Member]},
        refuses=(NotFound,),
        parameters=page_parameters(NUMBER_CURSOR),
    )
    def get(self, request: Request, team: str) -> Response:
        actor, window = self.actor(request), Window.of(request.query_params)
        team_id = team_for(actor, team).pk
        limit, after = window.one_more, window.after_number
        rows = members.members_page(actor, team_id, limit=limit, after=after)
        return window.page(rows, member_json, cursor=lambda row: row.user_id)


class MemberDetail(Caller, APIView):
    @operation(
        "changeMember",
        "Give a member another role",
        tag="teams",
        scope=Permission.ADMIN,
        answers={200: Member},
        takes=MemberChange,
        refuses=(NotFound, LastAdmin, MoreThanOwn),
    )
    def patch(self, request: Request, team: str, user: int) -> Response:
        actor = self.actor(request)
        team_id = team_for(actor, team).pk
        role = Role(checked(MemberChange, request)["role"])
        return Response(
            member_json(change_role(team_id=team_id, user_id=user, role=role, actor=actor))
        )

    @operation(
        "removeMember",
        "Remove a member, or leave",
        tag="teams",
        scope=Permission.ADMIN,
        answers={204: None},
        refuses=(NotFound, LastAdmin),
        more="All that they have open there ends; everybody may leave.",
    )
    def delete(self, request: Request, team: str, user: int) -> Response:
        actor = self.actor(request)
        remove_member(team_id=team_for(actor, team).pk, user_id=user, actor=actor)
        return Response(status=204)


def team_json(row: members.TeamAccess) -> dict[str, Any]:
    return {
        "slug": row.team.slug,
        "name": row.team.name,
        **{setting: getattr(row.team, setting) for setting in SETTINGS},
        "role": row.role,
        "permissions": sorted(row.permissions),
    }


def member_json(row: Any) -> dict[str, Any]:
    return {
        "id": row.user_id,
        "username": row.user.get_username(),
        "name": row.user.display_name,
        "role": row.role,
        "is_active": row.user.is_active,
    }
