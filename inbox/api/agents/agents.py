"""REST: the agents of your teams, and connections to remote agents."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents.adapters.remote.probe_report import ProbeResult
from inbox import engine
from inbox.actions.agents.environments import MAX_ENVIRONMENT_CHARACTERS, set_environment
from inbox.actions.agents.external_agents import set_external_agent
from inbox.actions.agents.pauses import set_paused
from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import (
    BLANK_AS_NULL,
    UNSET,
    AgentName,
    Agui,
    Flag,
    Id,
    TeamName,
    Text,
    TextOrNull,
    example,
    url,
)
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.pagination import SLUG
from inbox.api.base.schema import Page, Schema, source
from inbox.engine.connection_test import run_connection_test
from inbox.queries.agents import agents
from inbox.rules import errors
from inbox.rules.agents.connection_test_messages import connection_test_message
from inbox.rules.agents.remote_agents import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    VALUE,
    is_external,
)
from inbox.rules.people.access import Permission
from inbox.rules.requests.callbacks import MAX_PREFIXES
from inbox.rules.webhooks.outgoing_urls import MAX_URL_CHARACTERS

if TYPE_CHECKING:
    from inbox import models


operation = partial(describe_operation, tag="agents", scope=Permission.READ)

Url = Annotated[str, url(MAX_URL_CHARACTERS), example("https://agents.example.com/mailer")]
Environment = Annotated[
    str, Text(MAX_ENVIRONMENT_CHARACTERS, may_be_blank=True), example("production")
]
Description = Annotated[
    str,
    Text(MAX_DESCRIPTION_CHARACTERS, may_be_blank=True),
    example("Answers customers by e-mail."),
]
HeaderValue = Annotated[str, Text(MAX_VALUE_CHARACTERS, VALUE, "This value cannot be sent.")]


class AgentSelfDescription(Schema):
    """The description of an agent by itself, shortened."""

    name: str
    type: str
    version: str
    flags: list[str]


class ConnectionTest(Schema):
    found: ProbeResult
    message: Annotated[str, example("The agent responded correctly.")]
    """The result, for people."""
    status: int | None
    content_type: TextOrNull
    detail: TextOrNull
    protocol_version: TextOrNull
    dialect: TextOrNull
    events: Annotated[list[str] | None, BLANK_AS_NULL]
    error: TextOrNull
    refused: bool
    """True if it rejected an answer to an unknown interrupt, as AG-UI 1.0 requires."""
    began_to_work: bool
    capabilities: AgentSelfDescription | None = source("told")
    milliseconds: int


class LatestTest(ConnectionTest):
    at: datetime


class TestResult(Schema):
    """The result of a test, for people who do not administer the team."""

    found: ProbeResult
    at: datetime


class Remote(Schema):
    """The location of an agent. Only administrators see `url` and `headers`."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    url: Url = UNSET
    headers: list[str] | None = UNSET
    """The names of its headers; null if they cannot be read any more."""
    test: LatestTest | TestResult | None


class AgentInput(Schema):
    kind: Literal["remote", "external"] = "remote"
    """`external` for an agent that runs by itself and asks with `POST /api/requests`."""
    team: TeamName = ""
    """May be left out if the agent exists, or if you can change one team only."""
    url: Url = UNSET
    """Required for a remote agent."""
    environment: Environment = UNSET
    """Of an external agent: a fact for policies, such as `production`."""
    callback_prefixes: Annotated[
        list[Url], Field(max_length=MAX_PREFIXES), example(["https://ci.example.com/signoff/"])
    ] = UNSET
    """Of an external agent: the URLs below which its requests may be called back."""
    description: Description | None = None
    headers: Annotated[
        dict[str, HeaderValue | None] | None, example({"Authorization": "Bearer of-the-agent"})
    ] = None
    """A value of null keeps the stored value; if `headers` is left out, all stored ones stay."""


class AgentChange(Schema):
    environment: Environment = UNSET
    """A fact for policies, such as `production`; empty for none."""
    is_paused: Flag = UNSET
    """True: it asks nothing and starts nothing new. What was approved is executed."""


class Agent(Schema):
    id: Id
    name: AgentName = source("slug")
    team: TeamName = source("team.slug")
    description: Description
    url: Annotated[str, example("/agui/mailer/")]
    """The path of its AG-UI endpoint."""
    kind: Literal["local", "remote", "external"]
    environment: Environment
    """The environment that policies see."""
    paused_at: datetime | None
    """The time since which it is paused; null if it is not."""
    remote: Remote | None


class Capabilities(Schema):
    capabilities: Annotated[Agui, example({"humanInTheLoop": {"interrupts": True}})]


class AgentWithCapabilities(Agent, Capabilities):
    pass


class InputSchema(Schema):
    input_schema: dict[str, Any] | None
    """The JSON Schema of `input` in `forwarded_props`; null if the agent takes a message only."""


class Agents(ApiView):
    @operation("GET", "List the agents", {200: Page[Agent]}, parameters=page_parameters(SLUG))
    def list_agents(self, request: Request) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = agents.agents_page(actor, limit=pagination.one_more, after=pagination.after_name)
        return pagination.page(
            rows, lambda row: _represent(row, agents.location_of(actor, row)), lambda row: row.slug
        )

    @operation("GET", "Read one agent, with its capabilities", {200: AgentWithCapabilities})
    def get_agent(self, request: Request, slug: str) -> Response:
        actor = self.actor
        agent = agents.agent_for(actor, slug)
        capabilities = engine.capabilities_of(agent.implementation)
        place = agents.location_of(actor, agent)
        return Response(_represent(agent, place, AgentWithCapabilities, capabilities=capabilities))

    @operation(
        "PUT",
        "Add or change a remote or an external agent",
        {200: Agent, 201: Agent},
        scope=Permission.ADMIN,
        body=AgentInput,
        refusals=(errors.InvalidValue, errors.AddressTaken),
        description="If the scheme, host or port of the URL changes, send all header values again.",
        supports_if_match=True,
    )
    def set_agent(self, request: Request, slug: str) -> Response:
        body, actor = AgentInput.from_request(request), self.actor
        team_id = agents.team_for_agent(actor, slug, body.team)
        check_seen = self.check_if_match(request)
        if body.kind == "external":
            placed = set_external_agent(
                team_id=team_id,
                slug=slug,
                description=body.description,
                environment=body.environment,
                callback_prefixes=body.callback_prefixes,
                actor=actor,
                check_seen=check_seen,
            )
        else:
            placed = set_remote_agent(
                team_id=team_id,
                slug=slug,
                url=body.url or "",
                description=body.description,
                headers=body.headers,
                actor=actor,
                check_seen=check_seen,
            )
        agent = agents.agent_for(actor, placed.agent.slug)
        answer = _represent(agent, agents.location_of(actor, agent))
        return Response(answer, status=201 if placed.is_new else 200)

    @operation(
        "PATCH",
        "Set the environment of an agent, pause it or resume it",
        {200: Agent},
        scope=Permission.ADMIN,
        body=AgentChange,
        refusals=(errors.InvalidValue,),
    )
    def change_agent(self, request: Request, slug: str) -> Response:
        actor = self.actor
        changes = AgentChange.from_request(request).sent()
        agents.agent_for(actor, slug)
        if "environment" in changes:
            set_environment(slug=slug, environment=changes["environment"], actor=actor)
        if "is_paused" in changes:
            set_paused(slug=slug, is_paused=changes["is_paused"], actor=actor)
        agent = agents.agent_for(actor, slug)
        return Response(_represent(agent, agents.location_of(actor, agent)))

    @operation("GET", "Read the capabilities of an agent", {200: Capabilities})
    def get_agent_capabilities(self, request: Request, slug: str) -> Response:
        agent = agents.agent_for(self.actor, slug)
        return Response({"capabilities": engine.capabilities_of(agent.implementation)})

    @operation("GET", "Read the schema of the input of an agent", {200: InputSchema})
    def get_agent_input_schema(self, request: Request, slug: str) -> Response:
        agent = agents.agent_for(self.actor, slug)
        return Response({"input_schema": engine.input_schema_of(agent.implementation)})

    @operation(
        "POST",
        "Test the connection to a remote agent",
        {200: ConnectionTest},
        scope=Permission.ADMIN,
        description="Takes up to ten seconds.",
        refusals=(errors.NotRemote, errors.TooManyTests),
    )
    def test_remote_agent(self, request: Request, slug: str) -> Response:
        return Response(_represent_test(run_connection_test(slug, self.actor)))


def _represent(
    row: "models.Agent", place: agents.AgentLocation, model: type[Agent] = Agent, **values: Any
) -> dict[str, Any]:
    return model.represent(
        row,
        url=f"/agui/{row.slug}/",
        kind=_kind(row, place),
        remote=_represent_place(place) if place.is_remote else None,
        **values,
    )


def _kind(row: "models.Agent", place: agents.AgentLocation) -> str:
    if place.is_remote:
        return "remote"
    return "external" if is_external(row.implementation) else "local"


def _represent_place(place: agents.AgentLocation) -> dict[str, Any]:
    """Return where an agent is; the values of its headers are shown to nobody."""
    report, at = place.test, place.tested_at
    if not place.may_change:
        return {"test": {"found": report["found"], "at": at} if report else None}
    test = _represent_test(report, LatestTest, at=at) if report else None
    return Remote.represent(place, headers=place.header_names, test=test)


def _represent_test(
    report: Mapping[str, Any], model: type[ConnectionTest] = ConnectionTest, **values: Any
) -> dict[str, Any]:
    return model.represent(
        SimpleNamespace(**report), message=connection_test_message(report), **values
    )
