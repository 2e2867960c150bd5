"""REST: teams and their members."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.people.credentials import hand_over
from inbox.actions.people.members import change_role, change_team, make_team, remove_member
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import (
    UNSET,
    Flag,
    Id,
    PersonName,
    Range,
    TeamName,
    Text,
    example,
    line,
)
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.pagination import NUMBER_CURSOR, SLUG
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.people import members
from inbox.queries.people.credentials import CredentialKind, credentials_of
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.decisions.teamwork.collaboration import (
    MAX_EXECUTION_HOURS,
    MAX_EXPIRY_HOURS,
    MAX_GRACE_SECONDS,
)
from inbox.rules.people.access import Permission, Role
from inbox.rules.people.reject_reasons import MAX_REJECT_REASON_CHARACTERS, MAX_REJECT_REASONS
from inbox.rules.people.required_sign_in import RequiredSignIn
from inbox.rules.people.session_limits import (
    MAX_IDLE_MINUTES,
    MAX_SESSION_HOURS,
    MIN_IDLE_MINUTES,
    MIN_SESSION_HOURS,
)
from inbox.rules.people.team_settings import MAX_FILE_DAYS, MAX_THREAD_DAYS
from inbox.rules.people.teams import MAX_NAME_CHARACTERS, MAX_SLUG_CHARACTERS
from inbox.rules.people.teams import SLUG as TEAM_SLUG

operation = partial(describe_operation, tag="teams", scope=Permission.READ)

TeamTitle = Annotated[str, line(MAX_NAME_CHARACTERS), example("Operations")]


class TeamInput(Schema):
    slug: Annotated[str, Text(MAX_SLUG_CHARACTERS, TEAM_SLUG), example("ops")]
    name: TeamTitle


class TeamChange(Schema):
    """The settings of a team. Those that a request leaves out stay as they are."""

    name: TeamTitle = UNSET
    grace_seconds: Annotated[int, Range(0, MAX_GRACE_SECONDS), example(30)] = UNSET
    """Seconds that a complete set of decisions waits before it resumes its run."""
    request_expiry_hours: Annotated[int, Range(0, MAX_EXPIRY_HOURS)] = UNSET
    """Hours until a request expires, if the agent sets no expiry; 0: it never expires."""
    execute_within_hours: Annotated[int, Range(1, MAX_EXECUTION_HOURS)] = UNSET
    """Hours until an approval lapses, if the call has not started."""
    file_days: Annotated[int, Range(1, MAX_FILE_DAYS), example(90)] | None = UNSET
    """Days until files are erased, those that are older now at the next sweep; null: never."""
    thread_days: Annotated[int, Range(0, MAX_THREAD_DAYS), example(365)] | None = UNSET
    """Days without activity until a thread is deleted; 0: never; null: as the installation."""
    session_idle_minutes: (
        Annotated[int, Range(MIN_IDLE_MINUTES, MAX_IDLE_MINUTES), example(30)] | None
    ) = UNSET
    """Minutes without use after which sessions of members end; null: as the installation."""
    session_hours: (
        Annotated[int, Range(MIN_SESSION_HOURS, MAX_SESSION_HOURS), example(24)] | None
    ) = UNSET
    """Hours after the sign-in after which sessions of members end; null: as the installation."""
    required_sign_in: RequiredSignIn = UNSET
    """How members must have signed in to enter the team; API keys are not affected."""
    requires_view_digest: Flag = UNSET
    """True if AG-UI clients have to send the digest of what they displayed."""
    inbox_only: Flag = UNSET
    """True if requests can be decided on the pages of the inbox only."""
    names_deciders: Flag = UNSET
    """True if remote agents get the names of the people who decide."""
    self_approval: Flag | None = UNSET
    """True if requesters may approve their tool calls; null: until two people can decide."""
    two_administrators: Flag = UNSET
    """True if the author of a draft of the policy cannot publish it."""
    messages_show_arguments: Flag = UNSET
    """True if mails and chats show the arguments of tool calls, with secrets masked."""
    stores_exceptions: Flag = UNSET
    """True if runs have what their agents raise, for keys with the scope `run` and for members."""
    override_group: Annotated[str, Text(64, may_be_blank=True), example("leads")] = UNSET
    """The group whose members may approve despite the policy; "": nobody."""
    reject_reasons: Annotated[
        list[Annotated[str, line(MAX_REJECT_REASON_CHARACTERS)]],
        Field(max_length=MAX_REJECT_REASONS),
        example(["Wrong amount", "Not now"]),
    ] = UNSET
    """Short texts that people who reject a request on its page choose from."""
    headings: Annotated[
        dict[str, Annotated[str, Text()]],
        example({"refund_payment": "Refund {amount} {currency}"}),
    ] = UNSET
    """Headings of requests by tool or kind of request; `{name}` stands for an argument."""


class Team(TeamChange):
    slug: TeamName
    role: Role | None
    """Your role; null for a key."""
    permissions: list[Permission]
    """What you may do in this team."""


class MemberChange(Schema):
    role: Role


class Member(MemberChange):
    id: int = source("user_id")
    username: Annotated[str, example("ana")] = source("user.username")
    name: PersonName = source("user.display_name")
    is_active: bool = source("user.is_active")
    """A member who is not active cannot sign in, and rules do not count them."""


class Credential(Schema):
    """A key, a webhook or an open invitation that ends when its owner leaves the team."""

    id: Id
    kind: CredentialKind
    name: Annotated[str, example("ci")]
    """The name of a key, the description or host of a webhook, the address of an invitation."""
    created_at: datetime
    last_used_at: datetime | None
    """Of a key."""


class Credentials(Schema):
    results: list[Credential]


class OwnerInput(Schema):
    user: Annotated[int, Range(1, 2**63 - 1), example(7)]
    """The id of another member."""


class Teams(ApiView):
    @operation("GET", "List your teams", {200: Page[Team]}, parameters=page_parameters(SLUG))
    def list_teams(self, request: Request) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = members.teams_with_access_page(
            actor, limit=pagination.one_more, after=pagination.after_name
        )
        return pagination.page(rows, _represent_team, lambda row: row.team.slug)

    @operation(
        "POST",
        "Create a team",
        {201: Team},
        scope=Permission.ADMIN,
        body=TeamInput,
        only_people=True,
        description="For superusers only. The creator becomes the first administrator.",
        refusals=(errors.InvalidValue, errors.AddressTaken),
    )
    def make_team(self, request: Request) -> Response:
        actor = self.actor
        team = make_team(actor=actor, **TeamInput.from_request(request).sent())
        return Response(_represent_team(members.team_access(actor, team.slug)), status=201)

    @operation("GET", "Read one team", {200: Team})
    def get_team(self, request: Request, team: str) -> Response:
        return Response(_represent_team(members.team_access(self.actor, team)))

    @operation(
        "PATCH",
        "Change the settings of a team",
        {204: None},
        scope=Permission.ADMIN,
        body=TeamChange,
        refusals=(errors.InvalidValue, errors.SecondAdministratorRequired),
    )
    def change_team(self, request: Request, team: str) -> Response:
        actor = self.actor
        changes = TeamChange.from_request(request).sent()
        change_team(team_id=team_for(actor, team).pk, actor=actor, **changes)
        return Response(status=204)

    @operation(
        "GET",
        "List the members of a team",
        {200: Page[Member]},
        parameters=page_parameters(NUMBER_CURSOR),
    )
    def list_members(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        team_id = team_for(actor, team).pk
        limit, after = pagination.one_more, pagination.after_number
        rows = members.members_page(actor, team_id, limit=limit, after=after)
        return pagination.page(rows, Member.represent, cursor=lambda row: row.user_id)

    @operation(
        "PATCH",
        "Change the role of a member",
        {200: Member},
        scope=Permission.ADMIN,
        body=MemberChange,
        refusals=(errors.LastAdmin, errors.MoreThanOwn),
    )
    def change_member(self, request: Request, team: str, user: int) -> Response:
        actor = self.actor
        team_id = team_for(actor, team).pk
        role = MemberChange.from_request(request).role
        row = change_role(team_id=team_id, user_id=user, role=role, actor=actor)
        return Response(Member.represent(row))

    @operation(
        "DELETE",
        "Remove a member, or leave the team",
        {204: None},
        scope=Permission.ADMIN,
        description="Ends the access of the member to this team. Every member may leave. The "
        "keys that the member owns are revoked, their webhooks disabled and their invitations "
        "withdrawn: give those that are to stay another owner first.",
        refusals=(errors.LastAdmin,),
    )
    def remove_member(self, request: Request, team: str, user: int) -> Response:
        actor = self.actor
        remove_member(team_id=team_for(actor, team).pk, user_id=user, actor=actor)
        return Response(status=204)

    @operation(
        "GET",
        "List what ends when a member leaves",
        {200: Credentials},
        scope=Permission.ADMIN,
        description="The keys, webhooks and open invitations that the member owns. Members may "
        "read their own.",
    )
    def list_credentials(self, request: Request, team: str, user: int) -> Response:
        rows = credentials_of(self.actor, team_for(self.actor, team).pk, user)
        return Response({"results": [Credential.represent(row) for row in rows]})

    @operation(
        "PUT",
        "Give a key, a webhook or an invitation another owner",
        {204: None},
        scope=Permission.ADMIN,
        body=OwnerInput,
        description="Its token, secret or link stays: rotate it if the former owner knows it.",
        refusals=(errors.InvalidValue,),
    )
    def hand_over(self, request: Request, team: str, user: int, credential_id: UUID) -> Response:
        hand_over(
            team_id=team_for(self.actor, team).pk,
            owner_id=user,
            credential_id=credential_id,
            heir_id=OwnerInput.from_request(request).user,
            actor=self.actor,
        )
        return Response(status=204)


def _represent_team(row: members.TeamAccess) -> dict[str, Any]:
    return Team.represent(row.team, role=row.role, permissions=sorted(row.permissions))
