"""REST about invitations to a team, for its administrators."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox.actions.people.invitations import invite, resend_invitation, withdraw_invitation
from inbox.api.base.base_view import Caller, made
from inbox.api.base.fields import EmailField
from inbox.api.base.openapi_descriptions import IDEMPOTENCY_KEY, operation
from inbox.api.base.pagination import Window
from inbox.api.base.request_models import checked
from inbox.api.base.response_models import Invitation, InvitationWithLink, Page
from inbox.queries.people.invitations import invitations_for
from inbox.queries.people.teams import team_for
from inbox.rules.errors import (
    IdempotencyConflict,
    InvalidValue,
    InvitationEnded,
    MoreThanOwn,
    NotFound,
)
from inbox.rules.people.access import Permission, Role


class InvitationInput(serializers.Serializer[Any]):
    """The body of POST /api/teams/<slug>/invitations."""

    email = EmailField()
    role = serializers.ChoiceField([role.value for role in Role])


class TeamInvitations(Caller, APIView):
    @operation(
        "listInvitations",
        "List the open invitations of a team",
        tag="invitations",
        scope=Permission.ADMIN,
        answers={200: Page[Invitation]},
        refuses=(NotFound,),
        more="Those that nobody has accepted or withdrawn, the latest first; 50 at most.",
    )
    def get(self, request: Request, team: str) -> Response:
        actor, window = self.actor(request), Window.of(request.query_params)
        team_id = team_for(actor, team).pk
        rows = invitations_for(actor, team_id, limit=window.one_more, after=window.after_id)
        return window.page(rows, invitation_json)

    @operation(
        "invite",
        "Invite somebody by mail",
        tag="invitations",
        scope=Permission.ADMIN,
        answers={201: InvitationWithLink},
        takes=InvitationInput,
        refuses=(InvalidValue, NotFound, MoreThanOwn, IdempotencyConflict),
        parameters=[IDEMPOTENCY_KEY],
        more="It is made also where its mail could not be sent: `mail` says so.",
    )
    def post(self, request: Request, team: str) -> Response:
        actor = self.actor(request)
        team_id = team_for(actor, team).pk
        given, once = checked(InvitationInput, request), self.once(request)
        row, link = invite(
            team_id=team_id,
            email=given["email"],
            role=Role(given["role"]),
            actor=actor,
            site=request.build_absolute_uri("/"),
            once=once,
        )
        answer = {**invitation_json(row), "link": link or None}
        return made(answer, replayed=once.is_replayed(row))


class InvitationDetail(Caller, APIView):
    @operation(
        "withdrawInvitation",
        "Withdraw an invitation",
        tag="invitations",
        scope=Permission.ADMIN,
        answers={204: None},
        refuses=(NotFound, InvitationEnded),
        more="Its link counts no more.",
    )
    def delete(self, request: Request, invitation_id: UUID) -> Response:
        withdraw_invitation(invitation_id=invitation_id, actor=self.actor(request))
        return Response(status=204)


class InvitationResend(Caller, APIView):
    @operation(
        "resendInvitation",
        "Send an invitation again, with another link",
        tag="invitations",
        scope=Permission.ADMIN,
        answers={200: InvitationWithLink},
        refuses=(NotFound, MoreThanOwn, InvitationEnded),
        more="The link before counts no more; also what has expired is sent again.",
    )
    def post(self, request: Request, invitation_id: UUID) -> Response:
        row, link = resend_invitation(
            invitation_id=invitation_id,
            actor=self.actor(request),
            site=request.build_absolute_uri("/"),
        )
        return Response({**invitation_json(row), "link": link or None})


def invitation_json(row: Any) -> dict[str, Any]:
    """An invitation; its link is in the answer that made it, if at all, and in no other."""
    return {
        "id": str(row.pk),
        "team": row.team.slug,
        "email": row.email,
        "role": row.role,
        "invited_by": row.invited_by,
        "mail": row.mail,
        "created_at": row.created_at,
        "sent_at": row.sent_at,
        "expires_at": row.expires_at,
    }
