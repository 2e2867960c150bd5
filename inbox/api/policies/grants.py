"""REST: grants of a team."""

from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.policies.grants import revoke_grant
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import AgentName, Id, PersonName, example
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.people.teams import team_for
from inbox.queries.policies.grants import grant_for, grants_of_team, limits_as_choices
from inbox.rules.people.access import Permission
from inbox.rules.policies import grants
from inbox.rules.policies.grants import GrantEnd, GrantRequest

if TYPE_CHECKING:
    from inbox.models import Grant as GrantRow

operation = partial(describe_operation, tag="policies", scope=Permission.READ)

Number = Annotated[float, example(500)]
Choices = Annotated[dict[str, Any], example({"amount": {"up_to": 50}, "to": "same"})]
Scope = Literal["thread", "agent"]


class BudgetInput(Schema):
    argument: Annotated[str, example("amount")]
    amount: Number


class GrantInput(Schema):
    """Further calls of the tool that the decision allows."""

    arguments: Choices = {}
    """For each argument "same" (the approved value; the default), "any", or a largest number."""
    scope: Scope = "thread"
    minutes: Annotated[int, example(120)] = 120
    """At most 1440."""
    most_uses: Annotated[int, example(20)] = grants.DEFAULT_USES
    """At most 100."""
    budget: BudgetInput | None = None
    """The most that a numeric argument of all uses may add up to."""

    def to_request(self) -> GrantRequest:
        budget = None
        if self.budget is not None:
            budget = grants.Budget(self.budget.argument, Decimal(str(self.budget.amount)))
        return GrantRequest(
            choices=self.arguments,
            is_for_agent=self.scope == "agent",
            minutes=self.minutes,
            most_uses=self.most_uses,
            budget=budget,
        )


class Budget(Schema):
    argument: Annotated[str, example("amount")]
    amount: Annotated[str, example("500")]
    spent: Annotated[str, example("120.5")]


class Grant(Schema):
    id: Id
    agent: AgentName
    tool: Annotated[str, example("refund_payment")]
    scope: Scope
    thread: Id | None = source("thread_id")
    """Null: all threads of the agent."""
    arguments: Choices
    """The limits; values that look secret are masked."""
    used: int
    most_uses: int
    budget: Budget | None
    expires_at: datetime
    made_by: PersonName
    made_from: Id
    """The interrupt that was approved."""
    created_at: datetime
    ended_at: datetime | None
    end_reason: GrantEnd | None


class Grants(ApiView):
    @operation(
        "GET",
        "List the grants of a team, the latest first",
        {200: Page[Grant]},
        parameters=page_parameters({"type": "string", "format": "uuid"}),
    )
    def list_grants(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = grants_of_team(
            actor,
            team_for(actor, team).pk,
            limit=pagination.one_more,
            before=pagination.after_id,
        )
        return pagination.page(rows, _represent)

    @operation("GET", "Read a grant", {200: Grant})
    def get_grant(self, request: Request, grant_id: UUID) -> Response:
        return Response(_represent(grant_for(self.actor, grant_id)))

    @operation(
        "POST",
        "Revoke a grant",
        {200: Grant},
        scope=Permission.DECIDE,
        description="Possible for everybody who may decide for the agent. Calls are asked again.",
    )
    def revoke_grant(self, request: Request, grant_id: UUID) -> Response:
        actor = self.actor
        revoke_grant(grant_id=grant_id, actor=actor)
        return Response(_represent(grant_for(actor, grant_id, Permission.DECIDE)))


def _represent(row: "GrantRow") -> dict[str, Any]:
    budget = row.state.terms.budget
    return Grant.represent(
        row,
        agent=row.agent.slug,
        scope="thread" if row.thread_id else "agent",
        arguments=limits_as_choices(row),
        budget=budget
        and {
            "argument": budget.argument,
            "amount": f"{budget.amount:f}",
            "spent": f"{row.spent.normalize():f}",
        },
        made_by=row.maker_label,
        made_from=row.made_from_id,
        end_reason=row.end_reason or None,
    )
