"""REST: open sessions of a team's members, for its administrators."""

from datetime import datetime
from functools import partial
from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.people.member_sessions import end_members_session
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import PersonName, example
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.pagination import NUMBER_CURSOR
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.people.member_sessions import member_sessions
from inbox.queries.people.teams import team_for
from inbox.rules.people.access import Permission

operation = partial(describe_operation, tag="teams", scope=Permission.ADMIN)


class Session(Schema):
    """An open session of a member."""

    id: int
    user_id: int = source("user.pk")
    username: Annotated[str, example("ana")] = source("user.username")
    name: PersonName = source("user.display_name")
    browser: Annotated[str, example("Firefox")]
    """Empty if unknown, as for `system`."""
    system: Annotated[str, example("Linux")]
    address: Annotated[str, example("192.0.2.7")]
    started_at: datetime = source("began_at")
    last_active_at: datetime = source("seen_at")
    """Accurate to the minute."""


class Sessions(ApiView):
    @operation(
        "GET",
        "List the sessions of the members",
        {200: Page[Session]},
        parameters=page_parameters(NUMBER_CURSOR),
    )
    def list_sessions(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = member_sessions(
            actor,
            team_for(actor, team).pk,
            limit=pagination.one_more,
            after=pagination.after_number,
        )
        return pagination.page(rows, Session.represent, cursor=lambda row: row.id)

    @operation(
        "DELETE",
        "End a session of a member",
        {204: None},
        description="In all teams of the member; open pages and streams close within seconds.",
    )
    def end_session(self, request: Request, team: str, session_id: int) -> Response:
        team_id = team_for(self.actor, team).pk
        end_members_session(team_id=team_id, session_id=session_id, actor=self.actor)
        return Response(status=204)
