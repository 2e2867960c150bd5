"""REST: presentations that a team chooses for tools, for its administrators."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from pydantic import ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.agents.tool_presentations import (
    remove_tool_presentation,
    set_tool_presentation,
)
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import UNSET, AgentName, Id, Text, example
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.schema import Page, Schema
from inbox.queries.agents.tool_presentations import (
    tool_presentation_for,
    tool_presentations_for,
)
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.people.access import Permission
from inbox.rules.presentations.registry import PresentationName
from inbox.rules.presentations.tool_presentations import (
    MAX_ARGUMENTS,
    MAX_LABEL_CHARACTERS,
    MAX_TOOL_CHARACTERS,
    MAX_UNIT_CHARACTERS,
)
from inbox.rules.presentations.vocabulary import MAX_MINOR_UNIT, ValueType

if TYPE_CHECKING:
    from inbox import models

operation = partial(describe_operation, tag="agents", scope=Permission.ADMIN)


class ArgumentHint(Schema):
    """Hints for one argument. What is left out is derived from its name and value."""

    # Responses have the members that were set.
    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    label: Annotated[str, Text(MAX_LABEL_CHARACTERS, may_be_blank=True), example("Amount")] = UNSET
    type: ValueType = UNSET
    unit: Annotated[str, Text(MAX_UNIT_CHARACTERS, may_be_blank=True), example("EUR")] = UNSET
    role: Annotated[str, Text(30, may_be_blank=True), example("amount")] = UNSET
    """The place in the presentation."""
    minor_unit: Annotated[int, Field(ge=0, le=MAX_MINOR_UNIT), example(2)] = UNSET
    """Of money in whole numbers of its smallest unit: the digits after the decimal sign."""


class ToolPresentationInput(Schema):
    tool: Annotated[str, Text(MAX_TOOL_CHARACTERS), example("refund_payment")]
    agent: AgentName | None = None
    """The agent whose calls are shown like this; null: all agents without their own."""
    kind: PresentationName | None = None
    """The presentation; null: chosen by the tool and its arguments."""
    values: Annotated[
        dict[str, ArgumentHint],
        Field(max_length=MAX_ARGUMENTS),
        example(
            {
                "amt": {
                    "label": "Amount",
                    "type": "money",
                    "unit": "EUR",
                    "role": "amount",
                    "minor_unit": 2,
                }
            }
        ),
    ] = {}
    """The hints for arguments, by their names."""


class ToolPresentation(ToolPresentationInput):
    id: Id


class ToolPresentations(ApiView):
    @operation(
        "GET",
        "List how a team shows the calls of tools",
        {200: Page[ToolPresentation]},
        parameters=page_parameters({"type": "string", "format": "uuid"}),
    )
    def list_tool_presentations(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = tool_presentations_for(
            actor,
            team_for(actor, team).pk,
            limit=pagination.one_more,
            after=pagination.after_id,
        )
        return pagination.page(rows, _represent)

    @operation(
        "PUT",
        "Choose how the calls of a tool are shown",
        {200: ToolPresentation},
        body=ToolPresentationInput,
        description="Replaces the one of the same tool and agent. It changes what pages show, "
        "never a request: every value stays visible, with its real name.",
        refusals=(errors.InvalidValue,),
    )
    def set_tool_presentation(self, request: Request, team: str) -> Response:
        actor, sent = self.actor, ToolPresentationInput.from_request(request)
        row = set_tool_presentation(
            team_id=team_for(actor, team).pk,
            agent=sent.agent or "",
            tool=sent.tool,
            body={
                "kind": sent.kind or "",
                "values": {name: hint.sent() for name, hint in sent.values.items()},
            },
            actor=actor,
        )
        return Response(_represent(row))

    @operation("GET", "Read how the calls of a tool are shown", {200: ToolPresentation})
    def get_tool_presentation(self, request: Request, presentation_id: UUID) -> Response:
        return Response(_represent(tool_presentation_for(self.actor, presentation_id)))

    @operation("DELETE", "Show the calls of a tool as its agent says", {204: None})
    def remove_tool_presentation(self, request: Request, presentation_id: UUID) -> Response:
        remove_tool_presentation(presentation_id=presentation_id, actor=self.actor)
        return Response(status=204)


def _represent(row: "models.ToolPresentation") -> dict[str, Any]:
    body = row.read_body()
    return ToolPresentation.represent(
        row,
        agent=row.agent.slug if row.agent else None,
        kind=body["kind"] or None,
        values=body["values"],
    )
