"""REST: API keys of a team, for its administrators."""

from datetime import datetime
from functools import partial
from typing import Annotated
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.people.api_keys import (
    UNCHANGED,
    change_networks,
    make_key,
    revoke_key,
    rotate_key,
)
from inbox.api.base.base_view import ApiView, created_response
from inbox.api.base.field_types import (
    UNSET,
    AgentName,
    Id,
    PersonName,
    Range,
    TeamName,
    example,
    line,
)
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.people import api_keys
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.people.access import Permission
from inbox.rules.people.api_keys import (
    DEFAULT_DAYS_VALID,
    DEFAULT_OVERLAP_HOURS,
    MAX_DAYS,
    MAX_NAME_CHARACTERS,
    MAX_OVERLAP_HOURS,
)
from inbox.rules.people.key_networks import MAX_NETWORK_CHARACTERS, MAX_NETWORKS

operation = partial(describe_operation, tag="keys", scope=Permission.ADMIN)

Token = Annotated[str, example("so_Zm9yIGV4YW1wbGUsIGFuZCBubyByZWFsIHRva2VuIQ")]
KeyName = Annotated[str, line(MAX_NAME_CHARACTERS), example("ci")]
Days = Annotated[int, Range(1, MAX_DAYS)]


Networks = Annotated[
    list[Annotated[str, line(MAX_NETWORK_CHARACTERS)]],
    Field(max_length=MAX_NETWORKS),
    example(["192.0.2.0/24"]),
]


class KeyInput(Schema):
    name: KeyName
    scopes: Annotated[list[Permission], Field(min_length=1, max_length=20)]
    agent: AgentName | None = None
    expires_in_days: Days | None = DEFAULT_DAYS_VALID
    """Null: the key does not expire."""
    networks: Networks = []
    """Networks (CIDR) of the clients that may use the key; empty: all."""


class KeyChange(Schema):
    networks: Networks


class RotationInput(Schema):
    overlap_hours: Annotated[int, Range(0, MAX_OVERLAP_HOURS)] = DEFAULT_OVERLAP_HOURS
    """Hours for which the former token stays valid."""
    expires_in_days: Days | None = UNSET
    """Null: the key does not expire. If left out, its expiry stays."""


class Key(Schema):
    """An API key. Its token is only in the response that created it."""

    id: Id
    team: TeamName = source("team.slug")
    name: KeyName
    prefix: Annotated[str, example("so_Zm9yIG")]
    """The beginning of its token."""
    scopes: list[Permission]
    networks: Annotated[list[str], example(["192.0.2.0/24"])]
    """Networks of the clients that may use it; empty: all."""
    agent: str | None = source("agent.slug")
    """The agent that the key belongs to: it reads and runs this agent and nothing else."""
    made_by: PersonName = source("created_by")
    owner_id: int | None
    """The key is revoked when this person leaves; null: a command made it."""
    created_at: datetime
    rotated_at: datetime | None
    former_token_until: datetime | None = source("former_until")
    expires_at: datetime | None
    """Null: the key does not expire."""
    revoked_at: datetime | None
    last_used_at: datetime | None
    """Accurate to the minute."""
    last_refused_at: datetime | None
    """The last time that an expired or replaced token was sent."""


class KeyWithToken(Key):
    token: Token
    """The bearer token. No other response has it."""


class MadeKey(Key):
    token: Token | None
    """The bearer token; null in a replayed response: make another key if it was lost."""


class Keys(ApiView):
    @operation("GET", "List the keys of a team", {200: Page[Key]})
    def list_keys(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        team_id = team_for(actor, team).pk
        rows = api_keys.api_keys_page(
            actor, team_id, limit=pagination.one_more, after=pagination.after_id
        )
        return pagination.page(rows, Key.represent)

    @operation(
        "POST",
        "Create a key",
        {201: MadeKey},
        body=KeyInput,
        is_idempotent=True,
        refusals=(errors.InvalidValue, errors.MoreThanOwn),
    )
    def make_key(self, request: Request, team: str) -> Response:
        actor = self.actor
        team_id = team_for(actor, team).pk
        body, idempotency = KeyInput.from_request(request), self.idempotency
        row, token = make_key(
            team_id=team_id,
            name=body.name,
            scopes=set(body.scopes),
            agent=body.agent or "",
            days=body.expires_in_days,
            networks=body.networks,
            actor=actor,
            idempotency=idempotency,
        )
        answer = MadeKey.represent(row, token=token or None)
        return created_response(answer, replayed=idempotency.is_replayed(row))

    @operation("GET", "Read one key", {200: Key})
    def get_key(self, request: Request, key_id: UUID) -> Response:
        return Response(Key.represent(api_keys.key_for(self.actor, key_id)))

    @operation(
        "PATCH",
        "Bind a key to networks",
        {200: Key},
        body=KeyChange,
        description="Open connections from other addresses are closed.",
        refusals=(errors.InvalidValue, errors.MoreThanOwn),
    )
    def change_key(self, request: Request, key_id: UUID) -> Response:
        networks = KeyChange.from_request(request).networks
        row = change_networks(key_id=key_id, networks=networks, actor=self.actor)
        return Response(Key.represent(row))

    @operation(
        "POST",
        "Give a key a new token",
        {200: KeyWithToken},
        body=RotationInput,
        description="The former token stays valid for `overlap_hours`.",
        refusals=(errors.MoreThanOwn, errors.KeyEnded),
    )
    def rotate_key(self, request: Request, key_id: UUID) -> Response:
        body = RotationInput.from_request(request)
        row, token = rotate_key(
            key_id=key_id,
            actor=self.actor,
            overlap_hours=body.overlap_hours,
            days=body.sent().get("expires_in_days", UNCHANGED),
        )
        return Response(KeyWithToken.represent(row, token=token))

    @operation("POST", "Revoke a key and close its connections", {200: Key})
    def revoke_key(self, request: Request, key_id: UUID) -> Response:
        return Response(Key.represent(revoke_key(key_id=key_id, actor=self.actor)))
