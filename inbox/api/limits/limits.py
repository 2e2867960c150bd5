"""REST: the limits of teams, and the use that they make of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.limits.set_limits import set_team_limits
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import UNSET, Range, TeamName, example
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.pagination import SLUG
from inbox.api.base.schema import Page, Schema
from inbox.queries.limits.team_limits import limits_in_use, team_to_limit, team_with_limits
from inbox.queries.people import members
from inbox.rules import errors
from inbox.rules.limits.team_limits import MAX_LIMIT, Limit
from inbox.rules.people.access import Permission

if TYPE_CHECKING:
    from inbox.models import Team

operation = partial(describe_operation, tag="limits", scope=Permission.READ)

Most = Annotated[int, Range(1, MAX_LIMIT), example(500)]


class LimitInUse(Schema):
    limit: Limit
    used: Annotated[int, example(12)]
    """The use now: of the busiest agent for limits of agents, of this process for connections."""
    most: Annotated[int, example(500)] | None
    """Null: there is no limit."""
    default: Annotated[int, example(1_000)] | None
    """The limit of teams that have none of their own; null: no limit."""


class TeamLimits(Schema):
    team: TeamName
    limits: list[LimitInUse]


class LimitChange(Schema):
    """The limits of a team. Null is the default; those that a request leaves out stay."""

    running_runs: Most | None = UNSET
    queued_runs: Most | None = UNSET
    open_requests: Most | None = UNSET
    agent_open_requests: Most | None = UNSET
    agent_requests_per_minute: Most | None = UNSET
    threads: Most | None = UNSET
    streams: Most | None = UNSET
    sockets: Most | None = UNSET
    event_bytes: Most | None = UNSET
    file_bytes: Most | None = UNSET


class LimitViews(ApiView):
    @operation(
        "GET",
        "List the limits of your teams, and their use",
        {200: Page[TeamLimits]},
        parameters=page_parameters(SLUG),
    )
    def list_limits(self, request: Request) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = members.teams_with_access_page(
            actor, limit=pagination.one_more, after=pagination.after_name
        )
        return pagination.page(rows, lambda row: _represent(row.team), lambda row: row.team.slug)

    @operation("GET", "Read the limits of a team, and their use", {200: TeamLimits})
    def get_limits(self, request: Request, team: str) -> Response:
        return Response(_represent(team_with_limits(self.actor, team)))

    @operation(
        "PATCH",
        "Change the limits of a team",
        {200: TeamLimits},
        scope=Permission.ADMIN,
        body=LimitChange,
        only_people=True,
        description="For superusers only.",
        refusals=(errors.InvalidValue,),
    )
    def change_limits(self, request: Request, team: str) -> Response:
        row = team_to_limit(self.actor, team)
        changes = LimitChange.from_request(request).sent()
        limits = {Limit(name): most for name, most in changes.items()}
        set_team_limits(team_id=row.pk, limits=limits, actor=self.actor)
        return Response(_represent(row))


def _represent(team: Team) -> dict[str, Any]:
    rows = limits_in_use(team.pk)
    limits = [LimitInUse.represent(row) for row in rows]
    return {"team": team.slug, "limits": limits}
