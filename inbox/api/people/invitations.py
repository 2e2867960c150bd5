"""REST: invitations to a team, for its administrators."""

from datetime import datetime
from functools import partial
from typing import Annotated
from uuid import UUID

from pydantic import WithJsonSchema
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.people.invitations import invite, resend_invitation, withdraw_invitation
from inbox.api.base.base_view import ApiView, created_response
from inbox.api.base.field_types import Id, PersonName, TeamName, example, line
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.people.invitations import invitations_for
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.people.access import Permission, Role
from inbox.rules.people.invitations import MAX_EMAIL_CHARACTERS, MailState

operation = partial(describe_operation, tag="invitations", scope=Permission.ADMIN)

Email = Annotated[
    str,
    line(MAX_EMAIL_CHARACTERS),
    # The action decides what an address is: no two readers of a format agree.
    WithJsonSchema(
        {
            "type": "string",
            "format": "email",
            "minLength": 1,
            "maxLength": MAX_EMAIL_CHARACTERS,
            "pattern": r"\S",
        }
    ),
    example("kim@example.com"),
]


class InvitationInput(Schema):
    email: Email
    role: Role


class Invitation(Schema):
    id: Id
    team: TeamName = source("team.slug")
    email: Email
    role: Role
    invited_by: PersonName
    mail: MailState
    """The state of the e-mail; `none` if the site sends no mail."""
    created_at: datetime
    sent_at: datetime
    """When the current link was made. Earlier links are invalid."""
    expires_at: datetime


class InvitationWithLink(Invitation):
    """An invitation. Its link is only in the response that created it."""

    link: str | None
    """The link to pass on, if the site sends no mail; otherwise null."""


class Invitations(ApiView):
    @operation(
        "GET",
        "List the open invitations of a team",
        {200: Page[Invitation]},
        description="Neither accepted nor withdrawn, the latest first; a team has up to 50.",
    )
    def list_invitations(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        team_id = team_for(actor, team).pk
        rows = invitations_for(actor, team_id, limit=pagination.one_more, after=pagination.after_id)
        return pagination.page(rows, Invitation.represent)

    @operation(
        "POST",
        "Invite a person by e-mail",
        {201: InvitationWithLink},
        body=InvitationInput,
        description="The invitation is created even if its mail cannot be sent; see `mail`.",
        is_idempotent=True,
        refusals=(errors.InvalidValue, errors.MoreThanOwn),
    )
    def invite(self, request: Request, team: str) -> Response:
        actor = self.actor
        team_id = team_for(actor, team).pk
        body, idempotency = InvitationInput.from_request(request), self.idempotency
        row, link = invite(
            team_id=team_id,
            email=body.email,
            role=body.role,
            actor=actor,
            site=request.build_absolute_uri("/"),
            idempotency=idempotency,
        )
        answer = InvitationWithLink.represent(row, link=link or None)
        return created_response(answer, replayed=idempotency.is_replayed(row))

    @operation(
        "DELETE",
        "Withdraw an invitation",
        {204: None},
        description="Its link becomes invalid.",
        refusals=(errors.InvitationEnded,),
    )
    def withdraw_invitation(self, request: Request, invitation_id: UUID) -> Response:
        withdraw_invitation(invitation_id=invitation_id, actor=self.actor)
        return Response(status=204)

    @operation(
        "POST",
        "Send an invitation again, with a new link",
        {200: InvitationWithLink},
        description="The former link becomes invalid. Expired invitations can be sent again.",
        refusals=(errors.MoreThanOwn, errors.InvitationEnded),
    )
    def resend_invitation(self, request: Request, invitation_id: UUID) -> Response:
        row, link = resend_invitation(
            invitation_id=invitation_id,
            actor=self.actor,
            site=request.build_absolute_uri("/"),
        )
        return Response(InvitationWithLink.represent(row, link=link or None))
