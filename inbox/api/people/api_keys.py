"""REST: API keys of a team, for its administrators."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.people.api_keys import UNCHANGED, make_key, revoke_key, rotate_key
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
from inbox.api.base.openapi_descriptions import IDEMPOTENCY_KEY, operation
from inbox.api.base.pagination import Pagination
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.people import api_keys
from inbox.queries.people.teams import team_for
from inbox.rules.errors import (
    IdempotencyConflict,
    InvalidValue,
    KeyEnded,
    MoreThanOwn,
    NotFound,
)
from inbox.rules.people.access import Permission
from inbox.rules.people.api_keys import (
    DEFAULT_DAYS_VALID,
    DEFAULT_OVERLAP_HOURS,
    MAX_DAYS,
    MAX_NAME_CHARACTERS,
    MAX_OVERLAP_HOURS,
)

Token = Annotated[str, example("so_Zm9yIGV4YW1wbGUsIGFuZCBubyByZWFsIHRva2VuIQ")]
KeyName = Annotated[str, line(MAX_NAME_CHARACTERS), example("ci")]
Days = Annotated[int, Range(1, MAX_DAYS)]


class KeyInput(Schema):
    name: KeyName
    scopes: Annotated[list[Permission], Field(min_length=1, max_length=20)]
    agent: AgentName | None = None
    expires_in_days: Days | None = DEFAULT_DAYS_VALID
    """Null: the key does not expire."""


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
    agent: str | None = source("agent.slug")
    """The agent that the key belongs to: it reads and runs this agent and nothing else."""
    made_by: PersonName
    created_at: datetime
    rotated_at: datetime | None
    former_token_until: datetime | None = source("former_until")
    expires_at: datetime | None
    """Null: never."""
    revoked_at: datetime | None
    last_used_at: datetime | None
    """To the minute."""
    last_refused_at: datetime | None
    """The last time that an expired or replaced token was sent."""


class KeyWithToken(Key):
    token: Token
    """The bearer token. No other response has it."""


class MadeKey(Key):
    token: Token | None
    """The bearer token; null in a replayed response: make another key if it was lost."""


class TeamKeys(ApiView):
    @operation(
        "listKeys",
        "List the keys of a team",
        tag="keys",
        scope=Permission.ADMIN,
        responses={200: Page[Key]},
        refusals=(NotFound,),
    )
    def get(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor(request), Pagination.of(request.query_params)
        team_id = team_for(actor, team).pk
        rows = api_keys.api_keys_page(
            actor, team_id, limit=pagination.one_more, after=pagination.after_id
        )
        return pagination.page(rows, Key.represent)

    @operation(
        "makeKey",
        "Create a key",
        tag="keys",
        scope=Permission.ADMIN,
        responses={201: MadeKey},
        body=KeyInput,
        refusals=(InvalidValue, NotFound, MoreThanOwn, IdempotencyConflict),
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, team: str) -> Response:
        actor = self.actor(request)
        team_id = team_for(actor, team).pk
        body, idempotency = KeyInput.from_request(request), self.idempotency(request)
        row, token = make_key(
            team_id=team_id,
            name=body.name,
            scopes=set(body.scopes),
            agent=body.agent or "",
            days=body.expires_in_days,
            actor=actor,
            idempotency=idempotency,
        )
        answer = MadeKey.represent(row, token=token or None)
        return created_response(answer, replayed=idempotency.is_replayed(row))


class KeyDetail(ApiView):
    @operation(
        "getKey",
        "Read one key",
        tag="keys",
        scope=Permission.ADMIN,
        responses={200: Key},
        refusals=(NotFound,),
    )
    def get(self, request: Request, key_id: UUID) -> Response:
        return Response(Key.represent(api_keys.key_for(self.actor(request), key_id)))


class KeyRotate(ApiView):
    @operation(
        "rotateKey",
        "Give a key a new token",
        tag="keys",
        scope=Permission.ADMIN,
        responses={200: KeyWithToken},
        body=RotationInput,
        refusals=(NotFound, MoreThanOwn, KeyEnded),
        description="The former token stays valid for `overlap_hours`.",
    )
    def post(self, request: Request, key_id: UUID) -> Response:
        body = RotationInput.from_request(request)
        row, token = rotate_key(
            key_id=key_id,
            actor=self.actor(request),
            overlap_hours=body.overlap_hours,
            days=body.sent().get("expires_in_days", UNCHANGED),
        )
        return Response(KeyWithToken.represent(row, token=token))


class KeyRevoke(ApiView):
    @operation(
        "revokeKey",
        "Revoke a key and close its connections",
        tag="keys",
        scope=Permission.ADMIN,
        responses={200: Key},
        refusals=(NotFound,),
    )
    def post(self, request: Request, key_id: UUID) -> Response:
        return Response(Key.represent(revoke_key(key_id=key_id, actor=self.actor(request))))
